"""How far a student is: for each exercise its last run, failed tries, hints. A file that is never in the way.

A damaged file is begun anew, and where none can be written nothing is kept: both are a sentence, and stop nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.course.kept import kept_folder, kept_progress
from grader.model import Course, GradedExercise, Report
from grader.model.files import write_whole
from grader.model.score import in_points

STATES = ("not_started", "started", "done")
_VERSION = 1


@dataclass(frozen=True)
class Standing:
    """Where a student stands with one exercise.

    Attributes:
        state: of the last run, as in a report.
        earned: hundredths of a point, likewise.
        solved: whether some run had full marks.
        tries: runs that lost points, since the last that did not.
        hints: how many were shown.
    """

    state: str = STATES[0]
    earned: int = 0
    solved: bool = False
    tries: int = 0
    hints: int = 0


@dataclass(frozen=True)
class Progress:
    """Where a student stands with a course.

    Attributes:
        standings: by exercise id; of some exercises nothing may be known.
        last: the exercise that was graded last by itself, or "".
        problem: why the file could not be read, or "".
    """

    standings: Mapping[str, Standing] = field(default_factory=dict)
    last: str = ""
    problem: str = ""

    def of(self, id: str) -> Standing:
        """Where they stand with one exercise."""
        return self.standings.get(id, Standing())

    def with_(self, id: str, standing: Standing) -> Progress:
        """The same with one exercise changed."""
        return replace(self, standings={**self.standings, id: standing})

    def after(self, report: Report) -> Progress:
        """The same after a run."""
        now = self
        for graded in report.exercises:
            before = now.of(graded.exercise.id)
            if graded.state != STATES[0] or before != Standing():
                now = now.with_(graded.exercise.id, _after(before, graded))
        ran = [graded.exercise.id for graded in report.exercises if graded.checks]
        return replace(now, last=ran[0]) if len(ran) == 1 else now


def _after(before: Standing, graded: GradedExercise) -> Standing:
    lost = graded.score.earned + graded.score.undecided < graded.score.possible
    tries = before.tries + (graded.state == "started" and lost)
    if graded.left_out:
        # Of some checks only: a try like any other, but where the exercise stands is not known by it.
        return replace(before, tries=tries)
    done = graded.state == "done"
    return Standing(graded.state, graded.score.earned, before.solved or done, 0 if done else tries, before.hints)


def read_progress(course: Course) -> Progress:
    """What was kept; nothing where that cannot be read."""
    path = kept_progress(course)
    try:
        return _from_plain(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return Progress()
    except OSError as error:
        return Progress(problem=f"progress cannot be read: {error.strerror}")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return Progress(problem=f"{path.relative_to(course.root).as_posix()} was damaged; progress begins anew")


def write_progress(course: Course, progress: Progress) -> str:
    """Keep it, in one step; a sentence where that is not possible, else ""."""
    path = kept_progress(course)
    try:
        ready_folder(course.root)
        write_whole(path, json.dumps(_to_plain(progress), indent=1) + "\n")
    except OSError as error:
        return f"progress is not kept: {error.strerror} ({path.relative_to(course.root).as_posix()})"
    return ""


def ready_folder(root: Path) -> Path:
    """Make the folder for what belongs to the student alone, which git passes over.

    Raises:
        OSError: it cannot be made.
    """
    folder = kept_folder(root)
    folder.mkdir(exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="ascii")
    return folder


def _to_plain(progress: Progress) -> dict[str, Any]:
    rows = {id: {**vars(row), "earned": in_points(row.earned)} for id, row in progress.standings.items()}
    return {"version": _VERSION, "last": progress.last, "exercises": rows}


def _from_plain(data: Any) -> Progress:
    rows = {
        str(id): Standing(
            state=STATES[STATES.index(row["state"])],
            earned=round(100 * row["earned"]),
            solved=bool(row["solved"]),
            tries=_count(row["tries"]),
            hints=_count(row["hints"]),
        )
        for id, row in data["exercises"].items()
    }
    return Progress(rows, str(data["last"]))


def _count(value: Any) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is not a count")
    return value
