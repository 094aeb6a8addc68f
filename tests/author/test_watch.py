"""`grade verify --watch`: what a save changes is proved again in a lane that stays, and nothing else is run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from support import FORK

from grader.author.verify import Prover
from grader.course.load import load_course
from grader.grading.runtime import Runtime
from grader.grading.store import open_store
from grader.runner.lane import Lane

STAFF = "solutions/01_basics/double"
SHOWN = "exercises/01_basics/double"


@pytest.fixture
def lane(lanes: Runtime, fork_lane: Lane) -> Lane:
    """The warm lane."""
    return fork_lane


def test_checks_are_read_anew(lane: Lane, home: Path) -> None:
    """A changed check file is read by the same process; one that breaks off is told, and the next is read again."""
    (exercise, *_) = load_course(home).exercises
    path, text = home / STAFF / "check_double.py", (home / STAFF / "check_double.py").read_text()
    seen = []
    for written in (text.replace("def check_dtype", "def check_other"), f"import torchh\n{text}", text):
        path.write_text(written)
        lane.recollect([exercise])
        problem = lane.collected.problems.get(exercise.id, "").strip().split("\n")[-1]
        seen.append(([check.id for check in lane.collected.checks if not check.shown], problem))
    nothing = "E   ModuleNotFoundError: No module named 'torchh'"
    assert seen == [(["random", "other"], ""), ([], nothing), (["random", "dtype"], "")]


class Author:
    """Edits files one after another, each when what the last one led to has been told; then leaves.

    Args:
        edits: each gives the path that it saved.
    """

    def __init__(self, edits: Sequence[Callable[[], Path]]) -> None:
        self._edits = list(edits)
        self.told: list[list[str]] = [[]]
        self.saved: set[Path] = set()

    def say(self, *lines: str) -> None:
        """Read lines; the last one of a proof is the time that it took."""
        self.told[-1] += lines
        if lines and lines[-1].startswith("("):
            if not self._edits:
                raise KeyboardInterrupt
            self.told.append([])
            self.saved = {self._edits.pop(0)()}

    def saves(self, folder: Path, **options: Any) -> Iterator[set[Path]]:
        """In place of what watches files."""
        while True:
            yield self.saved


def test_a_save_is_proved(lane: Lane, lanes: Runtime, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong answer is run alone; a check at fault is told with its line; a broken file is told and then mended."""

    def write(path: str, old: str, new: str) -> Callable[[], Path]:
        def edit() -> Path:
            text = (home / path).read_text()
            assert old in text
            (home / path).write_text(text.replace(old, new))
            return home / path

        return edit

    def remove() -> Path:
        (home / SHOWN / "exercise.yaml").unlink()
        return home / SHOWN / "exercise.yaml"

    author = Author(
        [
            write(f"{STAFF}/wrong/changes_input.py", "caught by: random", "caught by: dtype"),
            write(f"{STAFF}/wrong/changes_input.py", "caught by: dtype", "caught by: random"),
            write(f"{STAFF}/check_double.py", "assert_dtype(student", "undefined_name(student"),
            write(f"{STAFF}/double.py", "def double(x):", "def double(x:"),
            remove,
        ]
    )
    runs: list[int] = []
    really_run, really_collect = lane.run, lane.recollect

    def run(*args: Any, **named: Any) -> Any:
        runs[-1] += 1
        return really_run(*args, **named)

    def recollect(exercises: Any) -> None:
        runs.append(0)
        really_collect(exercises)

    monkeypatch.setattr(lane, "run", run)
    monkeypatch.setattr(lane, "recollect", recollect)
    monkeypatch.setattr("grader.author.verify.Runtime", lambda *arguments: nullcontext(lanes))
    monkeypatch.setattr("grader.author.verify.watch_files", author.saves)
    with pytest.raises(KeyboardInterrupt), open_store(None) as store:
        Prover(load_course(home), FORK, store, 1, known_only=True).watch(["double"], author.say)
    sound, other, back, fault, broken, gone = ("\n".join(lines) for lines in author.told)
    assert "No problems found." in sound
    assert "check_dtype does not catch this wrong answer (random did)" in " ".join(other.split())
    assert "No problems found." in back
    # The known answers, then the one text that is new; going back runs nothing, so that no lane collects; other checks
    # run all, and three answers once more, as a check may be at fault by accident.
    assert runs[:3] == [5, 1, 8]
    words = " ".join(fault.split())
    assert "check_dtype is at fault itself (NameError: name 'undefined_name' is not defined, line" in words
    assert ": undefined_name(student.double" in words
    assert "the reference is not valid Python" in " ".join(broken.split())
    assert "exercise.yaml: cannot be read" in " ".join(gone.split())
    assert os.fspath(home) not in gone
