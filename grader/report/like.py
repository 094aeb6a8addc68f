"""A run like that of a report: "it passes on my machine" is settled by what both have in common, and what not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path

from grader.model import Exercise, Limits, Report
from grader.model.errors import CourseError
from grader.report.schema import ExerciseEntry, ReportFile, read_report

_COMPARED = ("grader", "torch", "numpy", "python", "os", "device", "start", "confinement")


def read_like(path: Path) -> tuple[ReportFile, int]:
    """The report of a run that is to be repeated, and its seed.

    Raises:
        CourseError: it is not a report, or its seed is a secret.
    """
    report = read_report(path)
    seed = report.environment.get("seed")
    if not isinstance(seed, int):
        raise CourseError(
            f"--like: the inputs of {path.as_posix()} come from a secret that no report contains. To repeat them, run "
            "grade batch into the same folder, or grade ci with the same secret"
        )
    return report, seed


def exercises_like(report: ReportFile, exercises: Sequence[Exercise]) -> list[Exercise]:
    """The exercises that a report has, with the limits that they had in its run.

    Raises:
        CourseError: it has none of them.
    """
    then = {exercise.id: exercise for exercise in report.exercises}
    chosen = [_limited(exercise, then[exercise.id]) for exercise in exercises if exercise.id in then]
    if not chosen:
        raise CourseError(f"--like: that report lacks these exercises; it has {', '.join(then) or 'none'}")
    return chosen


def _limited(exercise: Exercise, then: ExerciseEntry) -> Exercise:
    kinds = {field.name: type(getattr(exercise.limits, field.name)) for field in fields(Limits)}
    known = {name: kinds[name](value) for name, value in then.limits.items() if name in kinds and value > 0}
    return replace(exercise, limits=replace(exercise.limits, **known))


def differences(earlier: ReportFile, report: Report) -> Iterator[str]:
    """What differs between two runs, in sentences: the files, the machine, and each check with another verdict."""
    if earlier.digest != report.digest:
        yield "The files differ from those of that report, or other exercises were graded."
    now = vars(report.environment)
    for name in _COMPARED:
        if (before := earlier.environment.get(name)) != now[name]:
            yield f"{name}: {before} then, {now[name]} now"
    then = {(item.id, row.id): row.verdict for item in earlier.exercises for row in item.checks}
    rows = [(graded.exercise.id, row) for graded in report.exercises for row in graded.checks]
    both = [(id, row, then[id, row.check.id]) for id, row in rows if (id, row.check.id) in then]
    others = [(id, row, verdict) for id, row, verdict in both if verdict is not row.outcome.verdict]
    for id, row, verdict in others:
        yield f"{id}, {row.check.title}: {verdict} then, {row.outcome.verdict} now"
    if not others:
        yield f"All {len(both)} checks that both runs have ended as they did then."
