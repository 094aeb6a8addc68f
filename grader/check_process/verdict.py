"""From what a check raised to its outcome: the verdict, and two texts, for student and staff.

For a hidden check the student reads the property that failed, the rule, and what to try. Student code knows the hidden
input by then, so none of its free text, and no number, goes into the message. `hidden_words` ensures that: a text with
a word that was not known beforehand is not shown, and staff read why.
"""

from __future__ import annotations

import ast
import re
import traceback
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from grader.check import show
from grader.check_process.check_lines import line_of, raising_statement, statement_of
from grader.check_process.check_picture import picture_of
from grader.check_process.checks import CollectedCheck
from grader.check_process.features import FIXTURES
from grader.check_process.student_error import Reason, public_line_text, reason_of_student_error
from grader.check_process.submitted_lines import existing_lines, is_empty_function, may_lack_return
from grader.connection.connection import Connection
from grader.connection.raised import Raised, TracebackLine, raised_by_student, refuses_arguments, shown_lines
from grader.connection.record import Record
from grader.model import BROKEN_MESSAGE, WITHHELD, Check, Outcome, Verdict
from grader.model.endings import CannotJudge, CannotRun, CheckFailed, Inconclusive, NotUsable, WorkerLost
from grader.model.public_text import NOT_EXPECTED, Public, say

_OF_CATEGORY = {"correctness": "values", "error": "values"}
_CANNOT_TELL = say(
    "this check stopped with an error because of what your code returned, or of an argument that your code changed"
)
_DID_NOT_RAISE = re.compile(r"DID NOT RAISE.*?(\w+)'?>?\)?$")
_NOT_CALLABLE = re.compile(r"'\w+' object is not callable")
_COSTS = ("performance", "gradient", "memory", "device")
_ASKS_FOR_RETURN = " (is a `return` missing?)"
_MAX_MESSAGE = 6000
_PYTESTS = re.compile(r"[/\\](_pytest|pluggy)[/\\]")
_NOT_JUDGED: Mapping[type, Verdict] = {
    CannotJudge: Verdict.SKIPPED,
    CannotRun: Verdict.NOT_RUN,
    Inconclusive: Verdict.INCONCLUSIVE,
}
_FALLBACKS: Mapping[Verdict, Public] = {
    Verdict.ERROR: say("your file cannot be used"),
    Verdict.SKIPPED: say("a check that this one requires did not pass"),
    Verdict.CRASHED: say("your code raised an exception, or ended its process"),
    Verdict.TIMED_OUT: say("your code did not finish in time"),
    Verdict.OVER_LIMIT: say("your code used more than is allowed"),
    Verdict.NOT_RUN: say("this check cannot be run here"),
    Verdict.INCONCLUSIVE: say("the machine is too busy to measure speed"),
}
"""What is said by verdict where a text has words that were not known beforehand."""


Comparison = tuple[str, object, object]
"""The operator and the two sides of a plain `assert a == b` that does not hold."""


def outcome_of_check(
    row: CollectedCheck, error: BaseException | None, comparison: Comparison | None, student: Connection
) -> Outcome:
    """Return the outcome of a check that has run: its verdict, its messages and its counts.

    Args:
        row: the check.
        error: the exception that it raised, or None if it passed.
        comparison: the operator and both values of the last plain assert that failed; None if unknown.
        student: the connection to the student's code, with the record of all calls.
    """
    check, record, path = row.check, student.record, row.file.path
    reason = _reason_of(error, path, comparison, student)
    unwritten = _reason_of_stub(reason, error, student)
    reason = unwritten or reason
    verdict, message, detail = reason.verdict, "", ""
    if verdict is Verdict.BROKEN:
        # The student reads that the fault is ours, and nothing of it: a trace of our code could hold a hidden input.
        message, detail = BROKEN_MESSAGE, f"{reason.story or reason.public}\n{_traceback_text(error)}"[:_MAX_MESSAGE]
    elif verdict is not Verdict.PASSED:
        message, detail = _student_and_staff_messages(row, reason)
        # The kind of a value alone does not show it: a function may return None on purpose.
        if _ASKS_FOR_RETURN in message and not may_lack_return(student.files, record.called):
            message = message.replace(_ASKS_FOR_RETURN, "")
        # A print takes time; that of a tensor takes operations as well, and numbers out of PyTorch. Which functions
        # print is known from shown checks, so it says nothing of a hidden one.
        loud = [what for what in record.printing if what.split()[-1] in message]
        if loud and verdict is Verdict.FAILED and check.category in _COSTS:
            costs = "A print takes time, and printing a tensor runs operations."
            message += f"\n{min(loud)} prints. {costs} Remove the print first."
    # Of a hidden check counts and times are for staff alone: they could carry a hidden number out.
    counters, speed = dict(record.counters), tuple(record.speed)
    if not check.shown:
        counted = [f"counted: {counters}"] if counters else []
        detail = "\n".join([detail, *counted, *(each.told for each in speed)]).strip()
    return Outcome(
        check.id,
        verdict,
        message,
        detail,
        counters=counters if check.shown else {},
        speed=speed,
        device=student.device,
        cause="raised" if unwritten else cause_of(check, verdict, error or record.lost),
        picture=picture_of(check, verdict, error, record),
        line=0 if verdict is Verdict.PASSED else line_of(error, path),
        called=record.functions_called(),
        from_text=reason.from_text,
        calls=record.calls_made,
        at_weak_input=verdict is Verdict.FAILED and not reason.from_text and record.has_weak_input(),
        got_none=not unwritten and _last_call_returned_none(reason, error, comparison, student),
        stopped_at=_places_stopped_at(error, student),
        ended_process=_has_ended_process(error, student),
    )


def _places_stopped_at(error: BaseException | None, student: Connection) -> tuple[tuple[str, int], ...]:
    """Return the files and lines of student code at which a check stopped.

    An example is `(("double.py", 5),)`. The check stopped there because of an exception, or because the student's
    process ended.
    """
    lost, raised = student.record.lost, _raised_by_code_of(student, error)
    if lost is not None:
        lines = existing_lines(map(TracebackLine._make, lost.frames), student.files)
    elif raised is not None:
        lines = existing_lines(raised.lines, student.files)
    else:
        return ()
    return tuple((line.file, line.line) for line in lines)


def _has_ended_process(error: BaseException | None, student: Connection) -> bool:
    """Return whether student code ended its process, as a crash in C does, or called exit()."""
    lost, raised = student.record.lost, _raised_by_code_of(student, error)
    if lost is not None:
        return lost.verdict is Verdict.CRASHED
    return raised is not None and raised.builtin == "SystemExit"


def _raised_by_code_of(student: Connection, error: BaseException | None) -> Raised | None:
    """Return the exception that the code of a connection raised; None for any other exception."""
    raised = raised_by_student(error) if error is not None else None
    return raised if raised is not None and raised.owner == student.owner else None


def _reason_of_stub(reason: Reason, error: BaseException | None, student: Connection) -> Reason | None:
    """Return the reason to skip a check that failed because a function is still unwritten.

    Such a function is empty in the student's file, and so returned None. The message is such as "your `total` is not
    written yet (it returns None)". Return None if the check did not fail because of that.

    Args:
        reason: the reason that the check has otherwise; only a failure is changed.
        error: the exception that the check raised, if any.
        student: the connection to the student's code, which recorded the calls that returned None.
    """
    by_none = reason.verdict is Verdict.FAILED or (reason.verdict is Verdict.BROKEN and "NoneType" in str(error))
    if not by_none or not student.record.nothing:
        return None
    what = [*student.record.nothing][-1]
    name = what.rpartition("`")[0].rpartition("`")[2].split(".")[-1]
    if not is_empty_function(student.files.get(f"{student.module}.py", b""), name):
        return None
    return Reason(Verdict.SKIPPED, say("{} is not written yet (it returns None)", what))


def _last_call_returned_none(
    reason: Reason, error: BaseException | None, comparison: Comparison | None, student: Connection
) -> bool:
    """Return whether a check failed because the last call of student code returned None.

    Args:
        reason: the reason for which the check stopped.
        error: the exception that it raised, if any.
        comparison: the operator and both values of the last plain assert that failed; None if unknown.
        student: the connection to the student's code, which recorded the calls.
    """
    called = [*student.record.called]
    if reason.verdict not in (Verdict.FAILED, Verdict.BROKEN) or not called:
        return False
    by_kind = isinstance(error, CheckFailed) and error.about == "kind"
    by_value = comparison is not None and any(side is None for side in comparison[1:])
    returned = f"{student.owner} `{called[-1]}`" in student.record.nothing
    return returned and (by_kind or by_value or "NoneType" in str(error))


def blame_student(row: CollectedCheck, broken: Outcome, error: BaseException | None, record: Record) -> Outcome:
    """Return the outcome of a check that raised an error, as a failure of the student's code.

    The caller has found that the student's result, and not the check, causes the error: a check that computes
    `result + 1` raises a TypeError if the student's function returns None.

    Args:
        row: the check.
        broken: its outcome, in which the check is at fault.
        error: the exception that it raised.
        record: the record of the check's calls of student code, with those that returned None.
    """
    public, story = _CANNOT_TELL, f"{_CANNOT_TELL} (the check met {show.with_article(type(error).__name__)})"
    if record.nothing and "NoneType" in str(error):
        last = [*record.nothing][-1]
        public = story = say("expected {} to return something, got None (is a `return` missing?)", last)
    message, _ = _student_and_staff_messages(row, Reason(Verdict.FAILED, public, story))
    detail = f"{public}\n{broken.detail}"[:_MAX_MESSAGE]
    return replace(broken, verdict=Verdict.FAILED, message=message, detail=detail)


def _traceback_text(error: BaseException | None) -> str:
    """Return the traceback of an error as text for staff, without frames of pytest and its plugins."""
    frames = traceback.extract_tb(error.__traceback__ if error else None)
    return "\n".join(f"{e.filename}:{e.lineno}: {e.name}: {e.line}" for e in frames if not _PYTESTS.search(e.filename))


def cause_of(check: Check, verdict: Verdict, error: BaseException | None) -> str:
    """Return what made a check lose its points, as one of `CAUSES`, or "".

    Examples are "shape" and "raised". Return "" if the check did not lose its points. For a hidden check, the cause
    depends on little more than the verdict and the category: it must not reveal inputs.

    Args:
        check: the check that ended.
        verdict: the verdict of the check.
        error: the exception that it raised, if it raised one.
    """
    if not verdict.is_lost:
        return ""
    if verdict is Verdict.ERROR:
        return error.about if isinstance(error, NotUsable) else "name"
    if isinstance(error, WorkerLost) and error.in_load:
        return "load"
    of_category = _OF_CATEGORY.get(check.category, check.category)
    raised = raised_by_student(error) if error is not None else None
    if raised is not None:
        if check.shown and refuses_arguments(raised):
            return "signature"
        if verdict is Verdict.SKIPPED:  # not written yet, also where another error is expected
            return "raised"
        if raised.expected is not None:
            return of_category  # it stops no call that is to give a result
    if verdict in (Verdict.CRASHED, Verdict.TIMED_OUT, Verdict.OVER_LIMIT):
        return "raised"
    about = error.about if isinstance(error, (CheckFailed, CannotJudge)) else ""
    # The message of a hidden check names the property, and a shape.
    return about if about and (check.shown or about == "shape") else of_category


def _student_and_staff_messages(row: CollectedCheck, reason: Reason) -> tuple[str, str]:
    """Return the message for the student, and the full text for staff.

    For a hidden check the student's message has no numbers.
    """
    text = detail = reason.story or str(reason.public)
    if not row.check.shown:
        public = reason.public if reason.at_load else row.file.words.shown_text(reason.public)
        text = f"{public}{reason.student_error_text}"
        if public is None:
            text, detail = _FALLBACKS.get(reason.verdict, NOT_EXPECTED), f"{detail}\n{WITHHELD}: {reason.public}"
    rule = row.file.exercise.contract.get(row.check.contract)
    if rule and not reason.unreadable:
        text += f"\n{row.check.contract}  {rule}"
    return text[:_MAX_MESSAGE], detail[:_MAX_MESSAGE]


def _reason_of(error: BaseException | None, path: Path, comparison: Comparison | None, student: Connection) -> Reason:
    """Return the verdict and the message for the way in which a check ended.

    Examples are `PASSED` without an exception, `FAILED` for an assertion of a check, and `CRASHED` or `ERROR` for
    student code that raised or is missing. A lost worker counts first, as a check may have caught the exception.

    Args:
        error: the exception that ended the check; None if it ended without one.
        path: the path of the check file.
        comparison: the operator and both values of the last plain assert that failed; None if unknown.
        student: the connection to the student's code.
    """
    reference = student.reference
    # Losses are read from the records first, not from the exception: a check may have swallowed that. The reference
    # comes before the student, so that our own fault costs no points.
    if reference is not None and reference.record.lost is not None:
        return Reason(Verdict.BROKEN, f"the reference was lost: {reference.record.lost.message}")
    lost = student.record.lost or (error if isinstance(error, WorkerLost) else None)
    if lost is not None:
        frames = existing_lines(map(TracebackLine._make, lost.frames), student.files)
        lines = shown_lines(frames, student.folder)
        story = "\n".join([f"{lost.message}; it was then at", *lines]) if lines else lost.message
        return Reason(lost.verdict, lost.public, story, public_line_text(frames, student), unreadable=lost.in_load)
    if error is None:
        return Reason(Verdict.PASSED)
    # Student and reference raise in the same way; whose worker it was decides between a crash and a fault of ours.
    raised = raised_by_student(error)
    if raised is not None and reference is not None and raised.owner == reference.owner:
        return Reason(Verdict.BROKEN, f"the reference raised {raised.type}: {raised.text or raised.statement}")
    match error:
        case CheckFailed():
            by_text = error.from_text
            return Reason(Verdict.FAILED, error.public, error.story, at_load=by_text, from_text=by_text)
        case NotUsable():
            unreadable = raised is not None
            # What was there once has been written: that it is gone is something that the code did.
            verdict = Verdict.ERROR if error.at_load else Verdict.CRASHED
            return Reason(verdict, error.public, error.story, unreadable=unreadable, at_load=error.at_load)
        case CannotJudge() | Inconclusive() | CannotRun():
            return Reason(_NOT_JUDGED[type(error)], error.public, error.story)
    if raised is not None:
        return reason_of_student_error(replace(raised, lines=existing_lines(raised.lines, student.files)), student)
    return _reason_of_check_error(error, path, comparison, student)


def _reason_of_check_error(
    error: BaseException, path: Path, comparison: Comparison | None, student: Connection
) -> Reason:
    """Return the verdict and the message for an exception that student code did not raise.

    pytest raised it, or the code of the check. A plain `assert` that fails has the verdict `FAILED`, and
    `pytest.skip("no GPU")` has `NOT_RUN`. Any other error, such as a KeyError in the check, has `BROKEN`: the check
    itself is at fault.

    Args:
        error: the exception.
        path: the path of the check file, in which the line of the error is looked up.
        comparison: the operator and both values of the last plain assert that failed; None if unknown.
        student: the connection to the student's code, which knows the names in the student's file.
    """
    match error:
        case pytest.skip.Exception():
            return Reason(Verdict.NOT_RUN, error.msg or "")
        case pytest.fail.Exception() if missing := _DID_NOT_RAISE.search(str(error)):
            return Reason(Verdict.FAILED, say("expected {}, but nothing was raised", show.with_article(missing[1])))
        case pytest.fail.Exception():
            return Reason(Verdict.FAILED, NOT_EXPECTED, str(error))
        case pytest.FixtureLookupError():
            own = f"a check can use {', '.join(FIXTURES)}, and those of its own file"
            return Reason(Verdict.BROKEN, f"unknown fixture `{error.argname}`: {own}")
        # A name that should be a function and is a number: the check stumbles over it, but it is the student's mistake.
        case TypeError() if _NOT_CALLABLE.match(str(error)) and (
            name := _value_called_as_function(error, path, student)
        ):
            return Reason(Verdict.ERROR, say("`{}` in your file is not a function", name))
        case AssertionError():
            return Reason(Verdict.FAILED, NOT_EXPECTED, _plain_assert_message(error, path, comparison))
    return Reason(Verdict.BROKEN, f"{type(error).__name__}: {error}")


def _value_called_as_function(error: TypeError, path: Path, student: Connection) -> str:
    """Return the name of a student's value that a check called like a function, or "".

    If the student's file has `total = 3`, and the check calls `student.total(x)`, it is "total".
    """
    statement = raising_statement(error, path)
    for node in ast.walk(statement) if statement is not None else ():
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name("student"), attr=name)):
                if student.names().get(name) == "value":
                    return name
    return ""


def _plain_assert_message(error: AssertionError, path: Path, comparison: Comparison | None) -> str:
    """Return the message that a check file has for a plain `assert`.

    Without a message, `assert total(x) == 3` has three lines: "this does not hold: total(x) == 3", "got 2" and
    "expected 3".
    """
    text = str(error)
    if text and not text.startswith("assert "):
        return text.split("\nassert ")[0]
    statement = statement_of(error, path)
    head = f"this does not hold: {statement}" if statement else str(NOT_EXPECTED)
    if comparison is None:
        return head
    op, left, right = comparison
    names = ("got     ", "expected") if op == "==" else ("left ", "right")
    return f"{head}\n{names[0]}  {show.show(left)}\n{names[1]}  {show.show(right)}"
