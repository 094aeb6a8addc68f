"""Cells that ran become the text of a module: what counts, what is left out, and what is said of it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support import COURSES

from grader.course.load import load_course
from grader.intake.notebook import Cell, ModuleText, module_of_run_cells
from grader.model import Check, GradedCheck, GradedExercise, Outcome, Score, Verdict
from grader.model.progress import Progress
from grader.student.notebook import NotebookGrader, with_messages_about_cells

IMPORT = "from grader.notebook import check"


def made(*cells: Cell | str, known: tuple[str, ...] = (), needed: tuple[str, ...] = ("double",)) -> ModuleText:
    """The module of cells; texts are numbered as they come."""
    numbered = [Cell(at, cell) if isinstance(cell, str) else cell for at, cell in enumerate(cells, 1)]
    return module_of_run_cells(numbered, ("double", "01-1"), needed, known)


def text(*cells: Cell | str) -> str:
    return made(*cells).source.decode()


DOUBLE = "def double(x):\n    return x + x"
USES_ALL = "def double(x):\n    return a, b, c"


def test_cells_come_in_the_order_in_which_they_ran() -> None:
    """Of each cell the last run counts, where it is the same cell."""
    assert text(f"{IMPORT}\ncheck('double')", "import torch", "double(2)", DOUBLE) == f"{DOUBLE}\n"
    runs = (Cell(1, "a = 1", id="x"), Cell(2, "b = 1", id="y"), Cell(3, "a = 2", id="x"), Cell(4, USES_ALL))
    assert text(*runs) == f"b = 1\na = 2\n{USES_ALL}\n"
    assert text("a = 1", "b = a", "a = 1", USES_ALL) == f"b = a\na = 1\n{USES_ALL}\n"


def test_what_the_functions_need_counts() -> None:
    """By names: what binds them, what that needs, and what changes an object behind them; the rest is left out."""
    cells = (
        "import os, math as m\nimport matplotlib.pyplot as plt",
        "TABLE = {}\ndef register(f):\n    TABLE[f.__name__] = f\n    return f",
        "@register\ndef twice(x):\n    return m.prod([2, x])",
        "x = 3\nx.my_typo()\nplt.plot(x)\nwhile True:\n    pass",
        "def fill():\n    global two\n    two = 2",
        "fill()\nTABLE['one'] = 1; y = 5",
        "for key in TABLE:\n    TABLE.pop(key + key, None)",
        "def double(x):\n    return TABLE['twice'](x) * two / 2",
        "assert double(3) == 6\nprint(TABLE)",
    )
    module = made(*cells)
    assert module.lines == [
        "try: import math as m",
        "except Exception as _failed: print('In [1], line 1, was left out:', repr(_failed))",
        "",
        *cells[1].split("\n"),
        *cells[2].split("\n"),
        *cells[4].split("\n"),
        "try: fill()",
        "except Exception as _failed: print('In [6], line 1, was left out:', repr(_failed))",
        "TABLE['one'] = 1; ",
        *("try:", "    for key in TABLE:", "        TABLE.pop(key + key, None)"),
        "except Exception as _failed: print('In [7], line 1, was left out:', repr(_failed))",
        *cells[7].split("\n"),
    ]
    assert module.notes == [
        "left out what this exercise does not need: In [1] (line 2), In [4], In [6] (line 2), In [9]",
    ]
    names: dict[str, Any] = {}
    exec(module.source, names)
    assert names["double"](3) == 6


def test_a_cell_that_failed_counts_as_far_as_it_came() -> None:
    """As in the notebook, what it defined before it failed counts; what failed there may fail again."""
    failed = Cell(2, "def one(x):\n    return x\ntwo = 2\ntwo = 1 / 0", failed=True)
    module = made(Cell(1, "two = 3"), failed, Cell(3, "def double(x):\n    return one(x) * two"))
    names: dict[str, Any] = {}
    exec(module.source, names)
    assert names["double"](3) == 6
    assert module.notes == ["`one` is defined in In [2], which failed: fix that cell, and run it again"]
    assert made(DOUBLE, Cell(2, "y = 1\ny.typo()", failed=True)).notes == [
        "left out what this exercise does not need: In [2] (it failed in the notebook)"
    ]


def test_of_several_that_bind_a_name_the_nearest_counts() -> None:
    """A cell marked for the exercise comes before one that is not marked, and that before one of another exercise."""
    use = "# exercise: double\ndef double(x):\n    return a"
    mine, other = "# exercise: total, double\na = 1", "# exercise: total\na = 2"
    assert text("a = 3", mine, other, use) == f"{mine}\n{use}\n"
    assert text("a = 3", other, use) == f"a = 3\n{use}\n"
    assert text(other, use) == f"{other}\n{use}\n"
    assert text("#exercise: 01-1\na = 1", "c = 3", use) == f"#exercise: 01-1\na = 1\n{use}\n"
    # What the exercise asks for is taken from no cell that is marked for another one.
    assert text("# exercise: total\ndef double(x):\n    return x") == ""


def test_where_a_function_is_missing_all_definitions_count() -> None:
    """So that a message can say what is there instead."""
    cells = ("def double(x): pass", "class Mine:\n    def double_(x): pass", "def duble_(x): pass", "x = 1 / 0")
    assert made(*cells, needed=("double", "double_")).source.decode() == "\n".join([*cells[:3], ""])
    assert text(*cells[1:]) == "\n".join([*cells[1:], ""])


def test_cells_of_other_exercises_are_left_out() -> None:
    """So are imports that they alone need; what this one uses of them stays."""
    torch, total = "import torch, math", "def total(x):\n    return torch.sum(x)"
    helped = "def double(x):\n    return total(x) * 2"
    for cells, kept in (((torch, total, DOUBLE), (DOUBLE,)), ((torch, total, helped), ("import torch", total, helped))):
        numbered = [Cell(at, cell) for at, cell in enumerate(cells, 1)]
        module = module_of_run_cells(numbered, ("double",), ("double",), (), ("total",))
        assert module.source.decode() == "".join(f"{cell}\n" for cell in kept)


@pytest.mark.parametrize(
    ("source", "left", "told"),
    [
        ("%pip install x\na = 1", "\na = 1\n", "%pip install x"),
        ("get_ipython().run_line_magic('pip', 'x')\na = 1", "\na = 1\n", "get_ipython().run_line_magic('pip', 'x')"),
        ("a = get_ipython().getoutput('ls'); b = 2", "b = 2\n", "a = get_ipython().getoutput('ls')"),
        ("if 1:\n    !ls\nb = 1", "if 1:\n    pass\nb = 1\n", "!ls"),
        ("%%bash\nls", "", "%%bash"),
        (
            "def f():\n    get_ipython().system(\n  'ls')\n    return 'é'",
            "def f():\n    pass\n\n    return 'é'\n",
            "get_ipython().system(",
        ),
    ],
)
def test_magics_are_left_out_with_a_note(source: str, left: str, told: str) -> None:
    """What IPython alone can run goes, and all other lines stay where they are."""
    module = made(source)
    assert module.source.decode() == left
    assert module.notes == [f"In [1]: left out `{told}`, which only a notebook can run"]


def test_code_that_a_magic_times_stays() -> None:
    """It runs in the notebook; in a script that Jupyter exported, it comes from the line of the call."""
    cell = "get_ipython().run_cell_magic('time', '', 'a = 1\\nb = 2\\n')\nc = 3"
    module = made(cell, "%time d = 4; e = 5\n%timeit f = 6", "%%time\n\ng = 7")
    assert module.lines == ["a = 1", "b = 2", "c = 3", "d = 4; e = 5", "", "", "", "g = 7"]
    assert module.origins == [(1, 1), (1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3)]
    assert module.notes == ["In [2]: left out `%timeit f = 6`, which only a notebook can run"]


@pytest.mark.parametrize(
    ("imported", "call"),
    [
        (IMPORT, "check('double')"),
        ("from grader.notebook import check as c", "c('double'); c('total')"),
        ("try:\n    from grader.notebook import check\nexcept ImportError: pass", "check('double')"),
        ("import grader", "grader.notebook.check('double')"),
        ("import grader.notebook", "grader.notebook.check('double')"),
        ("import grader.notebook as g", "g.check('double')"),
        ("from grader import notebook", "found = notebook.check('double')"),
    ],
)
def test_our_own_calls_are_left_out(imported: str, call: str) -> None:
    """A worker never meets a call of `check`; what else stands in that cell counts."""
    module = made(f"{imported}\na = 1", f"b = 2\n{call}; e = 3")
    lines = [line for line in module.lines if line and "pass" not in line and "try" not in line]
    assert lines == ["a = 1", "b = 2", "e = 3"]
    assert module.notes == []


@pytest.mark.parametrize(
    "call",
    ["two = Limits().check(2)", "check = Limits().check\ncheck(two)", "def check(x): return x\ntwo = check(two)"],
)
def test_calls_of_the_students_own_check_stay(call: str) -> None:
    """What is called `check` and was not imported from the grader last is the student's."""
    assert text(f"{IMPORT}\na = 1", call) == f"\na = 1\n{call}\n"
    assert text("def f(check):\n    check(2)", IMPORT) == "def f(check):\n    check(2)\n"


def test_what_is_only_shown_is_left_out() -> None:
    """A print at top level is for the notebook, with a note; calls that may do something stay."""
    use = "def double(x):\n    return a + x"
    module = made("a = [1]\nprint(a)\na.append(2)", "a\nlen(b)", use)
    assert module.lines[:3] == ["a = [1]", "", "try: a.append(2)"]
    assert module.lines[4:] == use.split("\n")
    assert module.notes == ["left out what this exercise does not need: In [1] (line 2), In [2]"]


def test_imports_of_the_future_stand_on_top() -> None:
    """A file has them in its first line; all other lines stay where they are."""
    module = made("a = 1", "from __future__ import annotations\nb = 2")
    assert module.lines == ["from __future__ import annotations", "a = 1", "", "b = 2"]
    assert module.origins == [(2, 1), (1, 1), (2, 1), (2, 2)]
    assert module.notes == []


def test_an_await_at_top_level_is_reported() -> None:
    """A line that only a notebook can run is left out with a note, which names what has no value for that."""
    why = "which only a notebook can run"
    used = "def double(x):\n    return two * three * x"
    assert made("await thing()\na = 1").notes == [f"In [1]: left out `await thing()`, {why}"]
    for line, told in [
        ("two = await thing()", "two = await thing()"),
        ("async for two in things():\n    pass", "async for two in things():"),
        ("async with thing() as a:\n    two = a", "async with thing() as a:"),
        ("two = [b async for b in things()]", "two = [b async for b in things()]"),
        ("if True:\n    two = await thing()", "if True:"),
        ("two = !ls", "two = !ls"),
    ]:
        module = made(f"three = 3\n{line}", used, known=("two", "three", "double"))
        gone = "so that `two` has no value; give it one in plain Python"
        assert module.notes == [f"In [1]: left out `{told}`, {why}, {gone}"]
        assert "three = 3" in module.lines
    assert made("async def f():\n    await g()", "two = 2").notes == []


def test_names_in_memory_alone_are_reported() -> None:
    """A name that the kernel knows and that no cell which counts defines is told, with what to do."""
    use = "# exercise: double\ndef double(x):\n    return one(x) + two(x) + three(x) + four(x) + len(x)"
    cells = (
        Cell(1, use),
        Cell(2, "# exercise: double\ndef one(x): pass\n1/0", failed=True),
        Cell(3, "def two(x): pass"),
        Cell(4, "def three(x): pass", id="changed"),
        Cell(5, "def five(x): pass", id="changed"),
    )
    notes = sorted(made(*cells, known=("one", "two", "three", "four", "five", "double", "len")).notes)[:3]
    why = "the cell that defined it is gone or was changed; define it in a cell, and run that"
    alone = f"is in the kernel's memory alone: {why}"
    assert notes == [
        f"`four` {alone}",
        "`one` is defined in In [2], which failed: fix that cell, and run it again",
        f"`three` {alone}",
    ]
    assert made("from math import *\ndef double(x):\n    return exp(x)", known=("exp", "double")).notes == []
    assert made("a = 1", known=("double",)).notes[0].startswith("`double` is in the kernel's memory alone")


def test_messages_name_cells() -> None:
    """Lines of a file are lines of cells for who reads of them; a function need not be imported from anywhere."""
    told = (
        "your double.py raised TypeError: no\n    a/b/double.py, line 2, in double\n        x @ 2\n\n"
        "To see it in plain Python, in the folder a/b:\n"
        "    import torch\n    from double import double\n    print(1)"
    )
    row = GradedCheck(Check("a", "double", "A"), Outcome("a", Verdict.CRASHED, told), Score(0, 1))
    graded = GradedExercise(load_course(COURSES / "tiny").exercises[0], "started", (row,), Score(0, 1))
    module = made("a = 1", "def double(x):\n    return x @ 2")
    (shown,) = with_messages_about_cells(graded, module).checks
    assert shown.outcome.message == (
        "your notebook raised TypeError: no\n    In [2], line 2, in double\n        x @ 2\n\n"
        "To see it, run in a cell of its own:\n    import torch\n    print(1)"
    )


def test_wrong_requests_are_sentences(tmp_path: Path) -> None:
    """No such exercise, a module's name, no course, no cell with code: each is told, and no process is started."""
    request = {"name": "double", "course": str(COURSES / "tiny"), "folder": str(tmp_path), "cells": [], "names": []}
    with closing(NotebookGrader(Progress())) as grader:
        assert grader.answer({**request, "name": "duble"})["error"].endswith("did you mean double?")
        assert grader.answer({**request, "name": "01"})["error"].startswith("01 is a module; name one of its exercises")
        assert "there is no course here" in grader.answer({**request, "course": str(tmp_path)})["error"]
        told = "run the cell that defines `double` first: double needs it"
        assert grader.answer(request)["error"] == told


def test_without_a_name_all_exercises_are_checked(tmp_path: Path) -> None:
    """Those of which the kernel has a function; what is not written yet comes after what is wrong."""
    cells = [{"number": 1, "source": "def double(x):\n    return 3 * x"}]
    cells += [{"number": 2, "source": "def total(x):\n    return x.sum()"}]
    request = {"course": str(COURSES / "tiny"), "folder": str(tmp_path), "name": "", "cells": cells}
    with closing(NotebookGrader(Progress())) as grader:
        answer = grader.answer({**request, "names": ["double", "total", "x"]})
        nothing = grader.answer({**request, "names": ["x"]})
    first, second = answer["text"].split("01-2 Sum without a loop")
    assert "the result has the wrong values: 3 of 3 elements are wrong" in first
    assert first.index("FAIL ") < first.index("skip    1 check needs code that is not written yet (C3)")
    assert "5 / 5 points" in second
    assert answer["html"].count("<section") == 2
    assert nothing["error"].startswith("no cell that was run defines a function of an exercise")
