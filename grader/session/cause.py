"""What ended a check, as one of `CAUSES`: the report explains the first of them, and calls the rest consequences."""

from __future__ import annotations

from grader.model import Check, Verdict
from grader.model.endings import CannotJudge, CheckFailed, WorkerLost
from grader.remote.raised import raised_by_student, refuses_arguments

_OF_CATEGORY = {"correctness": "values", "error": "values"}


def cause_of(check: Check, verdict: Verdict, error: BaseException | None) -> str:
    """What ended a check; "" if it passed, or if it is not the student's code that ended it.

    Of a hidden check the verdict and the category decide: what its inputs were must not show in a word.
    """
    if verdict in (Verdict.PASSED, Verdict.NOT_RUN, Verdict.INCONCLUSIVE, Verdict.BROKEN):
        return ""
    if isinstance(error, CannotJudge) and error.at_load:
        return error.about or "load"
    if verdict is not Verdict.FAILED and isinstance(error, WorkerLost) and error.in_load:
        return "load"
    raised = raised_by_student(error) if error is not None else None
    if check.shown and raised is not None and refuses_arguments(raised):
        return "signature"
    # A function that is not written yet is skipped, and told as such also where another error is asked.
    if raised is not None and raised.asked is not None and verdict is not Verdict.SKIPPED:
        return _OF_CATEGORY.get(check.category, check.category)  # it stops no call that is to give a result
    if verdict in (Verdict.CRASHED, Verdict.TIMED_OUT, Verdict.OVER_LIMIT):
        return "raised"
    about = error.about if check.shown and isinstance(error, (CheckFailed, CannotJudge)) else ""
    if about == "" and verdict is Verdict.SKIPPED and raised is not None:
        return "raised"  # not written yet
    return about or _OF_CATEGORY.get(check.category, check.category)
