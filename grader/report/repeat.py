"""A run that is to be repeated: its seed and its exercises, and what differs afterwards.

"It passes on my machine" is settled by what both runs have in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.model import Report
from grader.model.course import Exercise
from grader.model.errors import CourseError
from grader.model.score import join_names
from grader.report.read import read_report
from grader.report.schema import ReportFile

_COMPARED = ("grader", "torch", "numpy", "python", "os", "device", "start", "confinement")


def read_like(path: Path) -> tuple[ReportFile, int]:
    """Return the report of the run that `--like` repeats, and the seed of that run.

    Raises:
        CourseError: the file is not a report, or its seed is a secret.
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
    """Return those exercises of a course whose ids are in an earlier report.

    Raises:
        CourseError: the report names none of these exercises.
    """
    then = {exercise.id for exercise in report.exercises}
    chosen = [exercise for exercise in exercises if exercise.id in then]
    if not chosen:
        raise CourseError(f"--like: that report lacks these exercises; it has {join_names(sorted(then)) or 'none'}")
    return chosen


def differences(earlier: ReportFile, report: Report) -> Iterator[str]:
    """Yield sentences on how two runs differ, as this may explain other verdicts.

    An example is "torch: 2.9.0 then, 2.10.0 now". The sentences compare the files, the machine, limits, and verdicts of
    checks.
    """
    if earlier.digest != report.digest:
        yield "The files differ from those of that report, or other exercises were graded."
    now = vars(report.environment)
    for name in _COMPARED:
        if (before := earlier.environment.get(name)) != now[name]:
            yield f"{name}: {before} then, {now[name]} now"
    limits = {exercise.id: exercise.limits for exercise in earlier.exercises}
    for exercise in (graded.exercise for graded in report.exercises if graded.exercise.id in limits):
        for name, own in vars(exercise.limits).items():
            if (before := limits[exercise.id].get(name)) not in (None, own):
                yield f"{exercise.id}: the limit {name} was {before:.10g}, and is {own:.10g} now"
    then = {(item.id, row.id): row.verdict for item in earlier.exercises for row in item.checks}
    rows = [(graded.exercise.id, row) for graded in report.exercises for row in graded.checks]
    both = [(id, row, then[id, row.check.id]) for id, row in rows if (id, row.check.id) in then]
    others = [(id, row, verdict) for id, row, verdict in both if verdict is not row.outcome.verdict]
    for id, row, verdict in others:
        yield f"{id}, {row.check.title}: {verdict} then, {row.outcome.verdict} now"
    if not others:
        yield f"All {len(both)} checks of both runs have the same verdicts as then."
