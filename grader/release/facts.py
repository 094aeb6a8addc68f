"""What a copy says of what it does not have: what hidden checks decide, and what is counted of the reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader.course.answers import as_submitted, read_answer
from grader.course.layout import Places
from grader.jobs import Part, Setup
from grader.lanes.lane import Lane
from grader.model import Exercise, Verdict, Withheld
from grader.model.errors import CourseError
from grader.model.score import divide


@dataclass(frozen=True)
class Facts:
    """Of one exercise.

    Attributes:
        withheld: its hidden checks.
        counters: what was counted while the reference ran, by shown check. Of a hidden one it could tell the inputs.
    """

    withheld: Withheld
    counters: Mapping[str, Mapping[str, int]]


def facts_of(exercise: Exercise, lane: Lane, setup: Setup) -> Facts:
    """Run the reference on the shown checks.

    Raises:
        CourseError: the checks cannot be read, or the reference does not pass: students would meet the same.
        StartError: a process of ours did not start.
    """
    verify = f"mend it; grade verify {exercise.id} shows all"
    where = Places.of(exercise).shown.as_posix()
    if problem := lane.collected.problems.get(exercise.id):
        raise CourseError(f"{where}: its checks cannot be read ({problem.strip().splitlines()[-1]}); {verify}")
    checks = lane.checks_of(exercise)
    shown = [check for check in checks if check.shown]
    hidden = [check.share for check in checks if not check.shown]
    points = divide(exercise.points, [*(check.share for check in shown), sum(hidden)])[-1]
    withheld = Withheld(len(hidden), sum(hidden), points)
    return Facts(withheld, _counters(exercise, lane, setup, {check.id for check in shown}))


def _counters(exercise: Exercise, lane: Lane, setup: Setup, shown: set[str]) -> Mapping[str, Mapping[str, int]]:
    if exercise.reference is None or not shown:
        return {}
    source = read_answer(exercise, exercise.reference).source
    run = lane.run(exercise, as_submitted(exercise, source), setup.seed_of(""), part=Part(frozenset(shown), again=True))
    for outcome in run.outcomes:
        if outcome.verdict.decided and outcome.verdict is not Verdict.PASSED:
            raise CourseError(
                f"{Places.of(exercise).reference.as_posix()}: the reference does not pass check_{outcome.check} "
                f"({outcome.verdict}); mend one of the two; grade verify {exercise.id} shows all"
            )
    return {outcome.check: dict(outcome.counters) for outcome in run.outcomes if outcome.counters}
