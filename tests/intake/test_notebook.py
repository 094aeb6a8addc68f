"""A notebook → the modules in it: which cells are whose, what is left out, and where a line comes from."""

from __future__ import annotations

import json

import pytest

from grader.grading.handed_in import with_cell_lines
from grader.intake.notebook import modules_of
from grader.model import Course

DOUBLE = "def double(x):\n    return torch.add(x, x)"
TOTAL = "def total(x):\n    return torch.sum(x)"


def notebook(*cells: str | tuple[str, dict[str, object]]) -> bytes:
    """Cells by their code; one that begins with a heading is Markdown."""
    made = []
    for cell in cells:
        source, metadata = cell if isinstance(cell, tuple) else (cell, {})
        kind = "markdown" if source.startswith("## ") else "code"
        made.append({"cell_type": kind, "source": source.splitlines(keepends=True), "metadata": metadata})
    return json.dumps({"cells": made, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}).encode()


def code(course: Course, data: bytes, name: str = "hw.ipynb") -> dict[str, str]:
    return {id: module.source.decode() for id, module in modules_of(data, name, course.exercises).items()}


@pytest.mark.parametrize(
    "cells",
    [
        ("## 01-1 Double it", DOUBLE, "## Sum without a loop", TOTAL),
        ("## double", DOUBLE, "## Exercise total", TOTAL),
        ((DOUBLE, {"tags": ["exercise:double"]}), (TOTAL, {"tags": ["total"]}), "leftover = 1"),
        ((DOUBLE, {"nbgrader": {"grade_id": "double", "solution": True}}),
         (TOTAL, {"nbgrader": {"grade_id": "total", "solution": True, "grade": True}}),
         ("assert total([])", {"nbgrader": {"grade_id": "total_tests", "grade": True}})),
        (f"# double\n{DOUBLE}", f"#%% exercise: total\n{TOTAL}"),
    ],
    ids=["number and title", "ids", "tags", "nbgrader", "comments"],
)  # fmt: skip
def test_cells_say_which_exercise_they_are_of(tiny: Course, cells: tuple[str, ...]) -> None:
    """By heading, tag, nbgrader's id or a comment; those before the first belong to all, a teacher's tests to none."""
    found = code(tiny, notebook("import torch", *cells))
    assert {id: "import torch" in text for id, text in found.items()} == {"double": True, "total": True}
    assert DOUBLE in found["double"]
    assert TOTAL in found["total"]
    assert TOTAL not in found["double"]
    assert DOUBLE not in found["total"]
    assert "leftover" not in found["total"] + found["double"]
    assert "assert" not in found["total"]


def test_what_is_tried_beside_marked_cells_does_not_count(tiny: Course) -> None:
    """As in the notebook itself: a released one has a marked cell below the heading of each exercise."""
    marked = f"# exercise: double\n{DOUBLE}"
    found = code(tiny, notebook("import torch", "## 01-1 Double it", "x = 1", marked, "y = 2", "## 01-2 Total", TOTAL))
    assert found["double"].strip() == f"import torch\n{marked}"


def test_a_whole_notebook(tiny: Course) -> None:
    """Where no cell says it, what its functions need is an exercise's; or of one alone, by the file's name."""
    data = notebook("import torch", DOUBLE, "def double_(x):\n    return x", TOTAL, "also = 1")
    whole = code(tiny, data)
    assert set(whole) == {"double", "total"}
    assert TOTAL not in whole["double"]
    assert DOUBLE not in whole["total"]
    assert all(text.startswith("import torch\n") and "also" not in text for text in whole.values())
    assert set(code(tiny, data, "Double (1).ipynb")) == {"double", "total"}
    assert code(tiny, notebook("x = 1")) == {}


def test_strong_signs_come_before_weak_ones(tiny: Course) -> None:
    """Functions say of which exercise a notebook is; a comment or heading with another one's name does not."""
    both = (DOUBLE, "def double_(x):\n    return x")
    for word in ("# total\nm = 1", "## total", f"# total\n{both[0]}"):
        for name in ("hw.ipynb", "double.ipynb"):
            assert set(code(tiny, notebook("import torch", word, *both), name)) == {"double"}
    assert set(code(tiny, notebook("# exercise: total\ndef totl(x): pass", *both))) == {"double", "total"}


def test_a_cell_of_the_students_own_counts(tiny: Course) -> None:
    """Also where the given cell with the exercise's id was deleted, or left as it was."""
    given = f"# exercise: total\n{tiny.exercises[1].starter.read_text()}"
    other = (f"# exercise: double\n{DOUBLE}\ndef double_(x):\n    return x", {"tags": ["double"]})
    mine = "def total(x):\n    return 3"
    for cells in ((other, mine), (given, other, mine), ("## total", other, "## double", mine)):
        assert mine in code(tiny, notebook(*cells))["total"]
        assert "new_zeros" not in code(tiny, notebook(*cells))["total"]


def test_a_notebook_that_imports_the_answer_is_not_an_answer(tiny: Course) -> None:
    """The file beside it is."""
    assert code(tiny, notebook("from double import double", "double(3)"), "double.ipynb") == {}
    assert set(code(tiny, notebook("from mine import double", "double(3)"), "double.ipynb")) == {"double"}


def test_what_is_not_python_is_left_out(tiny: Course) -> None:
    """Magics, shell lines, calls of ours and sketches, each with a note; a text that looks like one stays."""
    data = notebook(
        "%matplotlib inline\n!pip install torch\nimport torch\nfiles = !ls\ntorch?\nif True:\n    %time x = 1",
        'text = """\n%not a magic\n"""',
        "%%bash\necho hi",
        "%%time\ny = 2",
        "from grader.notebook import check\ncheck('total')",
        "this is a sketch",
        "def total(x):\n    return torch.sum(x) * x.new_ones(len(text)).sum() * y\n!ls",
    )
    module = modules_of(data, "total.ipynb", tiny.exercises)["total"]
    lines = module.source.decode().split("\n")
    assert lines[:7] == ["", "", "import torch", "", "", "", ""]
    assert "%not a magic" in lines
    assert [line for line in lines if "echo" in line or "check" in line or "sketch" in line] == []
    assert "y = 2" in lines
    assert module.notes == [
        "code cell 1: left out `%matplotlib inline`, `!pip install torch`, `files = !ls` and 1 more, "
        "which only a notebook can run",
        "code cell 3: left out `%%bash`, which only a notebook can run",
        "code cell 6 was left out: SyntaxError: invalid syntax, line 1",
        "code cell 7: left out `!ls`, which only a notebook can run",
        "left out what this exercise does not need: code cell 1 (line 6)",
    ]


def test_lines_are_named_as_cells(tiny: Course) -> None:
    """An error in the answer's own cell stays in the module, and its line is that of the cell."""
    data = notebook("import torch\n", "\ndef total(x)\n    return x")
    module = modules_of(data, "total.ipynb", tiny.exercises)["total"]
    number = module.source.decode().split("\n").index("def total(x)") + 1
    told = f'raised\n    a b/total.py, line {number}\n  File "/x/total.py", line 1; other.py, line 2, total.py, line 99'
    asked = "raised\n    a code cell 2, line 2\n  File code cell 1, line 1; other.py, line 2, total.py, line 99"
    assert with_cell_lines(told, "total.py", module.origins) == asked


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"cells": 1}', b'{"cells": [1]}', b"[" * 100_000, b"\xff"])
def test_what_is_not_a_notebook(tiny: Course, data: bytes) -> None:
    """A stranger's file that is none says so."""
    with pytest.raises(ValueError, match="it cannot be read as a notebook"):
        modules_of(data, "total.ipynb", tiny.exercises)


def test_odd_cells(tiny: Course) -> None:
    """Cells that no program of good will writes are read as far as they can be."""
    odd = {"source": 7, "metadata": 3}, {"metadata": {"tags": 1, "nbgrader": []}}
    for cell in odd:
        data = json.dumps({"cells": [{"cell_type": "code"} | cell]}).encode()
        assert set(modules_of(data, "total.ipynb", tiny.exercises)) == {"total"}


@pytest.mark.parametrize(
    "cell",
    ["a" + ".a" * 20_000, "-" * 20_000 + "1", "(" * 150 + ")" * 150, "x = " + "[" * 90 + "]" * 90, "f" + "()" * 9_000],
    ids=range(5),
)
def test_deep_cells_are_read(tiny: Course, cell: str) -> None:
    """A cell that no parser can take in is left to the worker, and the other cells count."""
    module = modules_of(notebook(TOTAL, cell), "total.ipynb", tiny.exercises)["total"]
    assert module.source.decode().startswith(TOTAL)


@pytest.mark.parametrize(
    "cell",
    [
        "%x\n" * 200_000,
        "x = 1" + " " * 60_000 + "?y",
        "# " + " " * 500_000,
        "#\n" * 100_000 + "'",
        "(" * 60_000,
        " " * 60_000 + "%",
        "x" * 65_000 + " = %",
    ],
    ids=range(7),
)
@pytest.mark.timeout(30)
def test_large_cells_end(tiny: Course, cell: str) -> None:
    """No cell keeps a batch busy, however it is made; many of them neither."""
    modules_of(notebook(*[cell] * 5), "total.ipynb", tiny.exercises)
