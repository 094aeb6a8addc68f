"""The exit status of a command that grades."""

from __future__ import annotations

from grader.model import Report, Verdict

POINTS_LOST = 1
UNDECIDED = 3


def exit_status(report: Report, *, passed: bool | None = None) -> int:
    """Return the exit status of a run: 0 for passed, 1 for lost points, 3 for undecided.

    It is 3 if a check is broken or inconclusive, no matter whether the run passed.

    Args:
        report: the report of the run.
        passed: True if the run passed, False if not; None to decide by whether points are lost.
    """
    if {row.verdict for graded in report.exercises for row in graded.checks} & {Verdict.BROKEN, Verdict.INCONCLUSIVE}:
        return UNDECIDED
    total = report.final_score
    if passed is None:
        passed = total.earned + total.undecided >= total.possible
    return 0 if passed else POINTS_LOST
