"""Notebooks of a released copy: valid, the same each time, and searched like all that is given out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from support import COURSES

from grader.model import Course, Exercise, Install, Module
from grader.release.make import notebooks_of
from grader.release.proof import LeakError, prove_no_secret, secrets_of

PATH = "notebooks/01_basics.ipynb"
ADDRESS = Install(address="git+https://git.example.org/course/tensorgrade@v1")


def test_a_notebook_has_what_a_student_needs(tiny: Course) -> None:
    """The tasks, the starters as cells that are marked, a check for each; valid, and the same each time."""
    (made,) = notebooks_of(tiny, ADDRESS).values()
    assert {PATH: made} == notebooks_of(tiny, ADDRESS)
    notebook = nbformat.reads(made.decode(), 4)
    nbformat.validate(notebook)
    cells = {cell.id: cell.source for cell in notebook.cells}
    parts = "double-task double-code double-check total-task total-code total-check"
    assert list(cells) == ["start", "setup", *parts.split()]
    assert cells["setup"].splitlines()[1:3] == [
        '# %pip install "torch>=2.10" --index-url https://download.pytorch.org/whl/cpu',
        '# %pip install "tensorgrade @ git+https://git.example.org/course/tensorgrade@v1"',
    ]
    assert cells["setup"].endswith("\nfrom grader.notebook import check, pack")
    task = "## 01-1 Double it\n\n10 points\n\n- **C1** `double(x)` returns a new tensor"
    assert cells["double-task"].startswith(task)
    code = "# exercise: double\ndef double(x):\n    raise NotImplementedError  # TODO\n"
    assert cells["double-code"].startswith(code)
    assert cells["double-check"] == 'check("double")'


def task(folder: Path, exercise: Exercise, text: str) -> str:
    """What becomes of a starter's text."""
    starter = folder / "double.py"
    starter.write_text(text)
    course = Course("A *starred* course", folder, (), ())
    module = Module("01_basics", "Basics", (replace(exercise, starter=starter),))
    (made,) = notebooks_of(replace(course, modules=(module,)), ADDRESS).values()
    return "".join("".join(cell["source"]) for cell in json.loads(made)["cells"][2:4])


def test_a_task_is_markdown(tiny: Course, tmp_path: Path) -> None:
    """Rules become a list, what is indented code, prose is no markup by accident; what has no task is code alone."""
    text = '"""Task\n\nUse 2 * x, not `x * x` or $y$:\n\n    >>> x_\n\nC1  One_\n    more.\nC2  Two.\nEnd\n"""\na = 1\n'
    told = task(tmp_path, tiny.exercises[0], text)
    body = "Use 2 \\* x, not `x * x` or \\$y\\$:\n\n```\n>>> x_\n```\n\n- **C1** One\\_\n  more.\n- **C2** Two.\n\nEnd"
    assert told.partition("points\n\n")[2] == f"{body}# exercise: double\na = 1"
    for text in ("def (:  # TODO", "a = 1"):  # what is not Python may be so on purpose
        assert task(tmp_path, tiny.exercises[0], text).endswith(f"points\n\n# exercise: double\n{text}")


def test_a_leak_is_found_in_a_notebook(tiny: Course) -> None:
    """Signs that JSON escapes hide nothing: a solution's text and a hidden input are found in a cell."""
    (made,) = notebooks_of(tiny, ADDRESS).values()
    secrets = tuple(secrets_of(tiny))
    prove_no_secret({PATH: made}, secrets)
    hidden = (COURSES / "tiny/solutions/01_basics/double/check_double.py").read_text()
    for leak in (hidden, 'print("quoted", end="")\n' + hidden):
        notebook = json.loads(made)
        notebook["cells"][4]["source"] = leak.splitlines(keepends=True)
        with pytest.raises(LeakError, match="a hidden check stands here"):
            prove_no_secret({PATH: json.dumps(notebook, indent=1).encode()}, secrets)
