"""A released notebook, executed as a student does."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from grader.course.load import load_course
from grader.model import Install
from grader.notebook import check
from grader.release.make import notebooks_of
from grader.student.notebook import KernelProgress

RIGHT = "# exercise: double\ndef double(x):\n    return twice(x)\n\ndef double_(x):\n    return x.mul_(2)\n"
HELPER = "def twice(x):\n    return 2 * x"


def shown(cell: Any) -> str:
    """What stands below a cell, as text."""
    (output,) = cell.outputs
    return str(output.data["text/plain"])


@pytest.mark.skipif(sys.platform == "win32", reason="nbclient's event loop is another one there")
@pytest.mark.filterwarnings("ignore")  # other people's programs: we cannot fix what they should fix
def test_a_notebook_is_solved(home: Path) -> None:
    """An untouched cell earns nothing; a helper that no cell defines is missing; one in a cell that fails counts.

    The notebook lies in a folder of the course. Magics and failing cells are in it, and nothing of the checks is in
    the kernel's memory. `pack` puts what the cells have into a zip.
    """
    ((path, data),) = notebooks_of(load_course(home), Install()).items()
    notebook = nbformat.reads(data.decode(), 4)
    new: Any = nbformat.v4.new_code_cell
    notebook.cells += [
        new("!echo hello\n1/0"),
        new(RIGHT),
        new('check("01-1")'),
        new(f"{HELPER}\n%pwd\n1/0"),
        new('check("double")'),
        new('pack("week1")'),
        new("import sys; print([name for name in ('torch', 'pydantic', 'grader.course') if name in sys.modules])"),
    ]
    (home / path).parent.mkdir()
    folder = {"metadata": {"path": str((home / path).parent)}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True, resources=folder).execute()
    untouched, *_, lost, solved = (cell for cell in notebook.cells if cell.source.startswith("check("))
    assert "0 / 10 points" in shown(untouched)
    assert "your `double` is not written yet" in shown(untouched)
    assert "your `double` raised NameError: name 'twice' is not defined" in shown(lost)
    assert f"In [{notebook.cells[-6].execution_count}], line 3, in double" in shown(lost)
    told = f"`twice` is defined in In [{notebook.cells[-4].execution_count}], which failed: fix that cell"
    assert told in shown(solved)
    assert "10 / 10 points" in shown(solved)
    assert "left out `%pwd`, which only a notebook can run" in shown(solved)
    assert "10 / 10 points" in solved.outputs[0].data["text/html"]
    packed = shown(notebook.cells[-2])
    assert "01-1 Double it\n      shown checks 5 / 5 points\n" in packed
    with zipfile.ZipFile((home / path).parent / "week1.zip") as archive:
        (name,) = archive.namelist()
        assert name == "exercises/01_basics/double/double.py"
        assert "def twice" in archive.read(name).decode()
    assert packed.endswith("week1.zip")
    assert notebook.cells[-1].outputs[0].text == "[]\n"


@pytest.mark.skipif(sys.platform == "win32", reason="nbclient's event loop is another one there")
@pytest.mark.filterwarnings("ignore")
def test_tensors_are_drawn_and_errors_explained() -> None:
    """A drawing is an SVG; an explanation names the cell and not the file that IPython makes of it."""
    source = "import torch\nfrom grader import draw, explain\nx = torch.ones(3)\ndraw(x)\n"
    cell: Any = nbformat.v4.new_code_cell(f"{source}with explain():\n    x + torch.ones(4)")
    notebook = nbformat.v4.new_notebook(cells=[cell])
    NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True).execute()
    drawn, clash, raised = cell.outputs
    assert all("image/svg+xml" in each.data for each in (drawn, clash))
    assert "Cell In[1], line 6: x + torch.ones(4)" in "\n".join(raised.traceback)


def test_without_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    """A call without the name of an exercise means all of them, at a prompt as well."""
    check()
    told = "check() is for notebooks; at a prompt or in a script run  grade  in a terminal\n"
    assert capsys.readouterr().out == told


def test_what_runs_is_shown_meanwhile() -> None:
    """What takes longer than a second is named again and again, and the answer comes after it."""
    sent: list[dict[str, str]] = []
    told = KernelProgress(sent.append)
    told.running("double", 0.5)
    told.running("double", 2.4)
    assert sent == [{"waiting": "double, 2 s"}]


def test_outside_of_a_notebook(capsys: pytest.CaptureFixture[str]) -> None:
    """At a prompt or in a script there are no cells: what to do there is told."""
    check("07-1")
    assert capsys.readouterr().out == (
        "check() is for notebooks; at a prompt or in a script run  grade 07-1  in a terminal\n"
    )
