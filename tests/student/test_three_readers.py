"""Each cell counts in the same way in a saved notebook, alone and in a batch, in a kernel and in a CI job."""

from __future__ import annotations

import builtins
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from support import COURSES, RIGHT, ROOT, WarmGrade

from grader.intake.cells import python_of

pytestmark = pytest.mark.lane

IN_PLACE = "def double_(x):\n    return x.mul_(2)"

CELLS: dict[str, tuple[list[str], str]] = {
    "a docstring that asks": (
        ['%pwd\ndef double(x):\n    """Is it twice\n    x?\n    """\n    return 2 * x', IN_PLACE],
        "left out `%pwd`, which only a notebook can run",
    ),
    "a comment that asks": ([f"!echo hello\n# Why\n# is that?\n{RIGHT}"], "left out `!echo hello`"),
    "lines that go on": (
        ["%pwd\nsize = (7\n    % 4)\nrest = 9 \\\n  % 7\nassert (size, rest) == (3, 2)\ndef double(x):\n"
         "    return x * (size - 1) * (rest - 1)", IN_PLACE],
        "left out `%pwd`",
    ),
    "a text with a magic": (
        ["%pwd\ntext = '''\n%time\n!ls\n'''\ndef double(x):\n    return x * text.count('\\n') * .5 if 0 else x + x",
         "def double_(x):\n    return x.mul_(text.count('%time') + 1)"],
        "left out `%pwd`",
    ),
    "a timed cell": ([f"%%time\n{RIGHT}"], ""),
    "a captured cell": ([f"%%capture out\n!echo hello\n{RIGHT}"], "left out `%%capture out`, `!echo hello`"),
    "timed lines": (
        ["%time a = 1\nb = %time a + 1  # slow\n%time c, d = a, b", "def double(x):\n    return x * b * c",
         "def double_(x):\n    return x.mul_(d)"],
        "",
    ),
    "a timed line in a block": (["if True:\n    %time two = 2\n    !ls", RIGHT.replace("2", "two")], "left out `!ls`"),
    "a cell of the shell": (["%%bash\necho hello", RIGHT], "left out `%%bash`"),
    "help": ([f"import torch\ntorch.sum?\n?torch\n{RIGHT}"], "left out `torch.sum?`, `?torch`"),
    "the future": (
        ["from __future__ import annotations\nimport torch", f"def two() -> Unknown:\n    return 2\n{RIGHT}"],
        "",
    ),
    "a check of the student's": (
        ["class Limits:\n    def check(self, power):\n        return power", "two = Limits().check(2)",
         "from grader.notebook import check\ndef check(x):\n    return x", "two = check(two)",
         RIGHT.replace("2", "two")],
        "",
    ),
    "another name for ours": (["from grader.notebook import check as c, check\nc('doubl')", RIGHT, "c('doubl')"], ""),
    "what is tried out": ([RIGHT, "print(double(1))\ndouble(2)"], "left out what this exercise does not need: "),
    "a comment above a cell's magic": ([f"# timed\n\n%time\n{RIGHT}"], "left out `%time`"),
    "a cell to the right": (["    two = 2\n    %time three = 3\n", RIGHT], ""),
    "a shell line that goes on": ([f"!echo hello \\\n  world\n{RIGHT}"], "left out `!echo hello \\`"),
    "what is there in Colab alone": (
        ["if 'google.colab' in str(get_ipython()):\n    !pip install torch\n    two = 3\nelse:\n    two = 2",
         RIGHT.replace("2", "two")],
        "left out `!pip install torch`",
    ),
    "a cell that failed": ([RIGHT, "x = 1\nx.my_typo()"], "left out what this exercise does not need: "),
    "functions in a cell that failed": ([f"{RIGHT}\nassert double(2) == 5"], ""),
    "Colab's drive": (
        ["from google.colab import drive\ndrive.mount('/content')", RIGHT],
        "left out what this exercise does not need: ",
    ),
    "a package that is not installed": (
        ["import math, not_installed_here\nimport not_installed_here.pyplot as plt",
         RIGHT.replace("2 *", "math.isqrt(4) *"), "plt.plot([1])"],
        "left out what this exercise does not need: ",
    ),
    "an await outside of a function": (
        ["import asyncio\ntwo = 2; await asyncio.sleep(0)", RIGHT.replace("2", "two")],
        "left out `await asyncio.sleep(0)`, which only a notebook can run",
    ),
    "a loop over the answer": (
        [RIGHT, "for _ in range(3):\n    double(_)\n    raise ValueError"],
        "left out what this exercise does not need: ",
    ),
    "a name that a later cell defines": ([RIGHT.replace("2", "two"), "two = 2"], ""),
    "a file that a cell writes": (
        ["%%writefile written_here.py\ndef twice(x):\n    return 2 * x",
         "from written_here import twice\ndef double(x):\n    return twice(x)", IN_PLACE],
        "",
    ),
    "a cell that is not marked": (
        ["def twice(x):\n    return 2 * x", f"# exercise: double\n{RIGHT}\ndouble = twice"], "",
    ),
}  # fmt: skip
"""Cells that earn full marks, and what is said of them."""


def saved(cells: list[str]) -> str:
    """A notebook's file."""
    made: Any = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    return str(nbformat.writes(made))


def test_one_rule(type_grade: WarmGrade, tmp_path: Path) -> None:
    """Each of these notebooks earns all points in all three, with the same notes."""
    ran = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "kernel.py"), str(COURSES / "tiny"), "double"],
        input=json.dumps({name: cells for name, (cells, _) in CELLS.items()}),
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    in_kernel = json.loads(ran.stdout)
    for name, (cells, note) in CELLS.items():
        assert "10 / 10 points" in in_kernel[name], (name, in_kernel[name])
        assert note in " ".join(in_kernel[name].split()), (name, in_kernel[name])
        folder, report = tmp_path / "class" / name.replace(" ", "-"), tmp_path / "report.json"
        folder.mkdir(parents=True)
        (folder / "double.ipynb").write_text(saved(cells))
        for words in (("run", "--submission"), ("ci", "--course", str(COURSES / "tiny"), "--submission")):
            type_grade(*words, str(folder), "double", "--json", str(report), cwd=COURSES / "tiny")
            (row, *_) = json.loads(report.read_text())["exercises"]
            assert row["score"]["earned"] == 10, (name, words, row)
            assert note in " ".join(row["notes"]), (name, row["notes"])
    type_grade("batch", str(tmp_path / "class"), "--out", str(tmp_path / "out"), cwd=COURSES / "tiny")
    reports = [json.loads(path.read_text()) for path in (tmp_path / "out" / "reports").glob("*.json")]
    assert [report["author"] for report in reports if report["exercises"][0]["score"]["earned"] != 10] == []
    assert len(reports) == len(CELLS)


@pytest.mark.parametrize("cells", [cells for cells, _ in CELLS.values()], ids=[*CELLS])
def test_without_ipython(cells: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where IPython is not installed, each cell has the same text and the same notes."""
    python_of.cache_clear()
    with_it = [python_of(cell) for cell in cells]
    usual = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("IPython"):
            raise ImportError(name)
        return usual(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    python_of.cache_clear()
    for cell, code in zip(cells, with_it, strict=True):
        plain = python_of(cell)
        assert (plain.lines, plain.numbers, plain.left_out) == (code.lines, code.numbers, code.left_out)
        assert code.tree is not None
