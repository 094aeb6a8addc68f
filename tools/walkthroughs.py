"""How much of the engine a reader meets on the three ways that `docs/architecture.md` describes.

    python tools/walkthroughs.py [--show]

- `grade EX`: the files of the host in which code of more than a few lines runs, from the command to the printed report,
  for a file that fails a check. One-line functions, such as properties of a record, are no steps on the way.
- A call: the files of both sides that `student.f(x)` goes through; see `frames_of_a_call.py`.
- A batch: the shapes that a submission takes on its way to `gradebook.csv`, as the page lists them. Each must be a type
  of which more authors make more instances. `--show` has the other types of which that is true: parts of the shapes,
  messages between processes, and what only reports and diagnoses need.

Nothing is timed.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
import shutil
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import torch
from click.testing import CliRunner
from frames_of_a_call import frames_of

import grader
from grader.cli import main as grade

PACKAGE = Path(grader.__file__).parent
ROOT = PACKAGE.parent
FEW_LINES = 3
_MADE_ELSEWHERE = {"Handed", "Submission"}
"""Shapes that the reader's process makes and sends whole; that process is not watched."""


def watched(run: Callable[[], None], see: Callable[[FrameType], None]) -> None:
    """Run a function, and call `see` with the frame of each Python call in it, in all threads of this process."""

    def on(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            see(frame)

    threading.setprofile(on)
    sys.setprofile(on)
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def is_step(code: CodeType) -> bool:
    """Return whether a function of ours is more than an accessor; bodies of modules and classes are not."""
    if not code.co_filename.startswith(str(PACKAGE)) or not code.co_flags & 1 or code.co_name.startswith("<"):
        return False
    lines = {line for _, _, line in code.co_lines() if line is not None and line > code.co_firstlineno}
    return len(lines) > FEW_LINES


def files_of_grade(folder: Path) -> dict[str, set[str]]:
    """Return the files that `grade EX` goes through, with their functions."""
    files: dict[str, set[str]] = {}

    def see(frame: FrameType) -> None:
        if is_step(frame.f_code):
            path = Path(frame.f_code.co_filename).relative_to(PACKAGE).as_posix()
            files.setdefault(path, set()).add(frame.f_code.co_qualname)

    shutil.copytree(ROOT / "tests" / "courses" / "tiny", folder)
    (folder / "exercises/01_basics/double/double.py").write_text("def double(x):\n    return x\n")
    os.chdir(folder)
    watched(lambda: _invoke("double", status=1), see)
    return files


def shapes_of_batch(folder: Path) -> tuple[list[str], list[str]]:
    """Return the types that architecture.md lists for a batch, and others whose instances grow with the authors."""
    made = []
    for authors in (2, 4):
        created: Counter[type] = Counter()

        def see(frame: FrameType, created: Counter[type] = created) -> None:
            own = frame.f_locals.get("self")
            if frame.f_code.co_name == "__init__" and own is not None:
                kind = type(own)
                if kind.__module__.startswith("grader.") and dataclasses.is_dataclass(kind):
                    created[kind] += 1

        place = folder / str(authors)
        shutil.copytree(ROOT / "tests" / "courses" / "tiny", place / "course")
        for number in range(authors):
            (own := place / "in" / f"author{number}").mkdir(parents=True)
            (own / "double.py").write_text(f"def double(x):\n    return x  # {number}\n")
        os.chdir(place / "course")
        watched(lambda: _invoke("batch", "../in", "--out", "../out", "-j", "1", status=0), see)
        made.append(created)
    few, many = made
    grow = {kind.__name__ for kind in many if many[kind] > few[kind]}
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    shapes = re.findall(r"^\| `([A-Z]\w+)` \|", page, re.MULTILINE)
    if missing := set(shapes) - grow - _MADE_ELSEWHERE:
        sys.exit(f"docs/architecture.md lists shapes that a batch does not make: {', '.join(sorted(missing))}")
    return shapes, sorted(grow - set(shapes))


def _invoke(*words: str, status: int | None) -> None:
    result = CliRunner().invoke(grade, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if status is not None and result.exit_code != status:
        sys.exit(f"grade {' '.join(words)} ended with {result.exit_code}, expected {status}:\n{result.output}")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="also the files and the shapes")
    show = parser.parse_args().show
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as root:
        graded = files_of_grade(Path(root) / "grade")
        shapes, parts = shapes_of_batch(Path(root) / "batch")
        os.chdir(here)
    sides = frames_of(torch.ones(10))
    called = {file for side in sides for file, _ in side.frames if file.startswith(str(PACKAGE))}
    rows = [sorted(graded), sorted(Path(file).relative_to(PACKAGE).as_posix() for file in called), shapes]
    for what, row in zip(("files of `grade EX`", "files of a call", "shapes to gradebook.csv"), rows, strict=True):
        print(f"{what:26}{len(row):4}")
        if show:
            for name in row:
                print(f"    {name:34}{', '.join(sorted(graded[name])) if row is rows[0] else ''}"[:160].rstrip())
    if show:
        print("other types, one or more for each author:", *parts)


if __name__ == "__main__":
    main()
