"""What a run found of exercises of which nothing has changed since: told again, with nothing run.

An answer is kept only if the next run would find the same: a check that took too long, or a machine too busy to tell,
is asked again. It hangs on all that a run does: the student's files, the checks, the versions, and how the run is set
up. Inputs that lie in files of their own are not kept twice, so that an answer that names one is found out again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from grader.course.kept import kept_answers
from grader.grading.grade import Sheet
from grader.grading.graded import from_told, to_told
from grader.grading.keys import Keys, digest_of
from grader.grading.origin import as_handed_in
from grader.model import Exercise, GradedExercise, Report, Submission, Verdict
from grader.model.files import write_whole
from grader.model.score import counted
from grader.student.pages import prose

_VERSION = 1
_SETTLED = (Verdict.PASSED, Verdict.FAILED, Verdict.CRASHED, Verdict.SKIPPED, Verdict.NOT_RUN)
_TIMED = "performance"


@dataclass(frozen=True)
class _Answer:
    """What an exercise's answer hangs on, and how it was."""

    key: str
    told: dict[str, Any]


class Answered:
    """The answers that are kept in a student's folder, for one run.

    Args:
        sheet: of the run.
        submission: what the student has.
    """

    def __init__(self, sheet: Sheet, submission: Submission) -> None:
        self._sheet = sheet
        self._submission = submission
        self._path = kept_answers(sheet.course)
        self._kept = _read(self._path)
        exercises = sheet.to_run(submission)
        keys, how = Keys(sheet.setup, exercises), _how(sheet)
        self._exercises = exercises
        self._keys = {item.id: digest_of(repr(keys.of(submission, item)).encode(), how) for item in exercises}

    def rows(self) -> dict[str, GradedExercise]:
        """The exercises whose answer is known, by id, in their order."""
        known = {}
        for exercise in self._exercises:
            answer = self._kept.get(exercise.id)
            if answer and answer.key == self._keys[exercise.id]:
                known[exercise.id] = as_handed_in(from_told(exercise, answer.told), self._submission)
        return known

    def keep(self, graded: Iterable[GradedExercise]) -> None:
        """Keep what a run found.

        Raises:
            OSError: the file cannot be written.
        """
        rows = {row.exercise.id: row for row in graded if self._will_hold(row)}
        new = {id: _Answer(self._keys[id], to_told(row)) for id, row in rows.items()}
        if any(self._kept.get(id) != answer for id, answer in new.items()):
            self._kept.update(new)
            answers = {id: asdict(answer) for id, answer in self._kept.items()}
            self._path.parent.mkdir(exist_ok=True)
            write_whole(self._path, json.dumps({"version": _VERSION, "answers": answers}) + "\n")

    def _will_hold(self, graded: GradedExercise) -> bool:
        if graded.exercise.id not in self._keys or not graded.checks:
            return False
        return all(
            row.outcome.verdict in _SETTLED and (row.outcome.verdict is Verdict.PASSED or row.check.category != _TIMED)
            for row in graded.checks
        )


def _how(sheet: Sheet) -> bytes:
    """How a run is set up, as far as what it tells hangs on that; lines to try name paths from where the student is."""
    setup = sheet.setup
    levels = (setup.least.word, setup.most.word)
    told = (setup.start, setup.accelerator, levels, sheet.runs_untouched, sheet.compiles, str(Path.cwd()))
    return repr(told).encode("utf-8", "surrogateescape")


def _read(path: Path) -> dict[str, _Answer]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        rows = data["answers"] if data["version"] == _VERSION else {}
        return {str(id): _Answer(str(row["key"]), dict(row["told"])) for id, row in rows.items()}
    # It can all be found out again, so that nobody need be told.
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def in_turn(
    exercises: Sequence[Exercise], known: Mapping[str, GradedExercise], tell: Callable[[GradedExercise], None]
) -> Callable[[GradedExercise | None], None]:
    """Tell exercises in the course's order: those that are known before those that are graded after them.

    What is returned is told each exercise as it is graded, and None once all are.
    """
    waiting = [exercise.id for exercise in exercises]

    def on_exercise(graded: GradedExercise | None) -> None:
        while waiting:
            id = waiting.pop(0)
            if graded is not None and id == graded.exercise.id:
                break
            if id in known:
                tell(known[id])
        if graded is not None:
            tell(graded)

    return on_exercise


def with_known(report: Report, exercises: Sequence[Exercise], known: Mapping[str, GradedExercise]) -> Report:
    """A report of what was graded, with what is known besides, in the course's order."""
    rows = {**known, **{graded.exercise.id: graded for graded in report.exercises}}
    return replace(report, exercises=tuple(rows[exercise.id] for exercise in exercises if exercise.id in rows))


def unchanged_lines(known: Mapping[str, GradedExercise], width: int) -> Iterator[str]:
    """How many exercises were not run, and why."""
    if known:
        since = "has not changed since it was" if len(known) == 1 else "have not changed since they were"
        text = f"{counted(len(known), 'exercise')} {since} last run: what is told is from then (--fresh runs all)"
        yield from prose(text, width)
