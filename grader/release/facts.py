"""What a copy says of what it does not have: what hidden checks decide, and what is counted of the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.course.answers import as_submitted, read_answer
from grader.course.layout import Places
from grader.model import Exercise, Outcome, Verdict, Withheld
from grader.model.errors import CourseError
from grader.model.messages import Part, Setup
from grader.model.score import divide
from grader.runner.lane import Lane


@dataclass(frozen=True)
class Facts:
    """Of one exercise.

    Attributes:
        withheld: its hidden checks.
        counters: what was counted while the reference ran, by shown check. Of a hidden one it could tell the inputs.
        retyped: the shown checks that the reference passes with arguments made anew from their text: of these alone,
            a student's copy prints lines to try.
    """

    withheld: Withheld
    counters: Mapping[str, Mapping[str, int]]
    retyped: tuple[str, ...]


def facts_of(exercise: Exercise, lane: Lane, setup: Setup) -> Facts:
    """Run the reference on the shown checks.

    Raises:
        CourseError: the checks cannot be read, or the reference does not pass: students would meet the same.
        StartError: a process of ours did not start.
    """
    verify = f"grade verify {exercise.id} shows all"
    where = Places.of(exercise).shown.as_posix()
    if problem := lane.collected.problems.get(exercise.id):
        raise CourseError(f"{where}: its checks cannot be read ({problem.strip().splitlines()[-1]}); mend it; {verify}")
    checks = lane.checks_of(exercise)
    shown = [check for check in checks if check.shown]
    hidden = [check.share for check in checks if not check.shown]
    points = divide(exercise.points, [*(check.share for check in shown), sum(hidden)])[-1]
    withheld = Withheld(len(hidden), sum(hidden), points)
    passed = _outcomes(exercise, lane, setup, Part(frozenset(check.id for check in shown), again=True))
    for outcome in passed:
        if outcome.verdict.decided and outcome.verdict is not Verdict.PASSED:
            raise CourseError(
                f"{Places.of(exercise).reference.as_posix()}: the reference does not pass check_{outcome.check} "
                f"({outcome.verdict}); mend one of the two; {verify}"
            )
    counters = {outcome.check: dict(outcome.counters) for outcome in passed if outcome.counters}
    typed = frozenset(check.id for check in shown if check.category != "performance")
    retyped = _outcomes(exercise, lane, setup, Part(typed, told=False, retyped=True))
    return Facts(withheld, counters, tuple(row.check for row in retyped if row.verdict is Verdict.PASSED))


def _outcomes(exercise: Exercise, lane: Lane, setup: Setup, part: Part) -> Sequence[Outcome]:
    """What becomes of the reference in these checks."""
    if exercise.reference is None or not part.only:
        return ()
    source = read_answer(exercise, exercise.reference).source
    return lane.run(exercise, as_submitted(exercise, source), setup.seed_of(""), part=part).outcomes
