"""From what pytest caught of a check to its verdict and its two texts: one for the student, one for staff.

For a hidden check the student reads the property that failed, the rule, and what to try. Student code knows the hidden
input by then, so none of its free text, and no number, goes into the message. `words` ensures that: a text with a word
that was not known beforehand is not shown, and staff read why.
"""

from __future__ import annotations

import ast
import linecache
import re
import textwrap
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pytest

from grader.check import show
from grader.connection.connection import Connection
from grader.connection.raised import Line, raised_by_student, refuses_arguments, shown_lines
from grader.model import BROKEN_MESSAGE, WITHHELD, Check, Verdict
from grader.model.endings import CannotJudge, CannotRun, CheckFailed, Inconclusive, NotUsable, WorkerLost
from grader.model.public import NOT_EXPECTED, Public, say
from grader.session.crashed import Ground, existing, may_lack_return, student_raised, where_known
from grader.session.words import Words

_FIXTURES = ("student", "reference", "rng", "files", "accelerator", "probe", "tmp_path")
_OF_CATEGORY = {"correctness": "values", "error": "values"}
_CANNOT_TELL = say("this check could not go on with what your code returned, or with an argument that it changed")
_DID_NOT_RAISE = re.compile(r"DID NOT RAISE.*?(\w+)'?>?\)?$")
_NOT_CALLABLE = re.compile(r"'\w+' object is not callable")
_COSTS = ("performance", "gradient", "memory", "device")
_ASKS_FOR_RETURN = " (is a `return` missing?)"
_MAX_MESSAGE = 6000
_PYTESTS = re.compile(r"[/\\](_pytest|pluggy)[/\\]")
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


class Comparison(NamedTuple):
    """The two sides of a plain `assert a == b` that does not hold."""

    op: str
    left: object
    right: object


@dataclass(frozen=True)
class Ended:
    """How a check ended.

    Attributes:
        error: what it raised, or None.
        statement: the source of the line that raised, if it was the check's own.
        comparison: of a plain assert.
        trace: the traceback, for staff.
        line: the innermost one of the check file in it, or 0.
    """

    error: BaseException | None
    statement: str = ""
    comparison: Comparison | None = None
    trace: str = ""
    line: int = 0


def ended_of(caught: pytest.ExceptionInfo[BaseException] | None, path: Path, comparison: Comparison | None) -> Ended:
    """What a check raised, if anything, and where.

    Args:
        caught: what pytest did.
        path: of the check file.
        comparison: both sides of the plain assert that was looked at last.
    """
    if caught is None:
        return Ended(None)
    error = caught.value
    # The innermost line of the check file itself: the text of a helper of ours does not help a student. It is
    # looked for in the whole file, and explains only what Python itself raised.
    entries = [(frame.f_code, line) for frame, line in traceback.walk_tb(caught.tb)]
    line = next((line for code, line in reversed(entries) if code.co_filename == str(path)), 0)
    plain = isinstance(error, (AssertionError, TypeError)) and not isinstance(error, CheckFailed)
    statement = _statement(linecache.getlines(str(path)), line) if line and plain else ""
    # Frames of pytest and its plugins explain nothing, so they are left out.
    trace = "\n".join(
        f"{code.co_filename}:{line}: {code.co_name}: {linecache.getline(code.co_filename, line).strip()}"
        for code, line in entries
        if not _PYTESTS.search(code.co_filename)
    )
    return Ended(error, statement, comparison if isinstance(error, AssertionError) else None, trace, line)


def _statement(lines: Sequence[str], line: int) -> str:
    """The innermost statement that a line belongs to; of a compound one only that line."""
    try:
        nodes = [node for node in ast.walk(_parsed("".join(lines))) if isinstance(node, ast.stmt)]
    except (SyntaxError, ValueError):  # the file is another one by now: its author is at work
        return ""
    around = [node for node in nodes if node.lineno <= line <= (node.end_lineno or 0) and not hasattr(node, "body")]
    first, last = (around[-1].lineno, around[-1].end_lineno or line) if around else (line, line)
    return "".join(lines[first - 1 : last]).rstrip()


_parsed = lru_cache(maxsize=20)(ast.parse)  # which takes longer than many a check


class Decision(NamedTuple):
    """The verdict of a check, the message for its student, and the detail for staff."""

    verdict: Verdict
    message: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Telling:
    """What a student reads besides what went wrong.

    Attributes:
        contract: rules by name.
        words: what may be shown of a hidden check.
    """

    contract: Mapping[str, str]
    words: Words


def decide(check: Check, ended: Ended, student: Connection, telling: Telling) -> Decision:
    """What becomes of a check."""
    ground = _decide(ended, student)
    if ground.verdict is Verdict.PASSED:
        return Decision(ground.verdict)
    detail = ground.story or ground.public
    # The student reads that the fault is ours, and nothing of it: a trace of our code could hold a hidden input.
    if ground.verdict is Verdict.BROKEN:
        return Decision(ground.verdict, BROKEN_MESSAGE, f"{detail}\n{ended.trace}"[:_MAX_MESSAGE])
    verdict, message, detail = _shown(check, ground, detail, telling)
    # The kind of a value alone does not show it: a function may return None on purpose.
    if _ASKS_FOR_RETURN in message and not may_lack_return(student.files, student.record.called):
        message = message.replace(_ASKS_FOR_RETURN, "")
    # A print takes time; that of a tensor takes operations as well, and numbers out of PyTorch. Which functions print
    # is known from shown checks, so it says nothing of a hidden one.
    loud = [what for what in student.record.printing if what.split()[-1] in message]
    if loud and verdict is Verdict.FAILED and check.category in _COSTS:
        message += f"\n{min(loud)} prints: that costs time, and of a tensor operations; take the print out first"
    return Decision(verdict, message, detail)


def blame(check: Check, ended: Ended, detail: str, telling: Telling) -> Decision:
    """What becomes of a check that breaks with this answer, and passes with the reference in its place.

    Args:
        check: the check.
        ended: how it ended with this answer.
        detail: why it was called broken, for staff.
        telling: what the student reads besides.
    """
    kind = type(ended.error).__name__ if ended.error is not None else "nothing"
    ground = Ground(Verdict.FAILED, _CANNOT_TELL, f"{_CANNOT_TELL} (the check met {show.with_article(kind)})")
    verdict, message, _ = _shown(check, ground, ground.story, telling)
    return Decision(verdict, message, f"{_CANNOT_TELL}\n{detail}"[:_MAX_MESSAGE])


def cause_of(check: Check, verdict: Verdict, error: BaseException | None) -> str:
    """What ended a check, as one of `CAUSES`; "" if it passed, or if it is not the student's code that ended it.

    Of a hidden check the verdict and the category decide: what its inputs were must not show in a word.
    """
    if verdict in (Verdict.PASSED, Verdict.NOT_RUN, Verdict.INCONCLUSIVE, Verdict.BROKEN):
        return ""
    if verdict is Verdict.ERROR:
        return error.about if isinstance(error, NotUsable) else "name"
    if verdict is not Verdict.FAILED and isinstance(error, WorkerLost) and error.in_load:
        return "load"
    raised = raised_by_student(error) if error is not None else None
    if check.shown and raised is not None and refuses_arguments(raised):
        return "signature"
    # A function that is not written yet is skipped, also where another error is expected.
    if raised is not None and raised.expected is not None and verdict is not Verdict.SKIPPED:
        return _OF_CATEGORY.get(check.category, check.category)  # it stops no call that is to give a result
    if verdict in (Verdict.CRASHED, Verdict.TIMED_OUT, Verdict.OVER_LIMIT):
        return "raised"
    about = error.about if isinstance(error, (CheckFailed, CannotJudge)) else ""
    if not check.shown and about != "shape":  # the message of a hidden check names the property, too
        about = ""
    if about == "" and verdict is Verdict.SKIPPED and raised is not None:
        return "raised"  # not written yet
    return about or _OF_CATEGORY.get(check.category, check.category)


def _shown(check: Check, ground: Ground, detail: str, telling: Telling) -> Decision:
    """What the student reads: of a hidden check the property alone; staff read the whole story in any case."""
    text: str = detail
    if not check.shown:
        public = ground.public if ground.at_load else telling.words.shown(ground.public)
        text = f"{public}{ground.of_small_set}"
        if public is None:
            public, detail = _FALLBACKS.get(ground.verdict, NOT_EXPECTED), f"{detail}\n{WITHHELD}: {ground.public}"
            text = str(public)
    rule = telling.contract.get(check.contract)
    if rule and not ground.unreadable:
        text += f"\n{check.contract}  {rule}"
    return Decision(ground.verdict, text[:_MAX_MESSAGE], detail[:_MAX_MESSAGE])


def _decide(ended: Ended, student: Connection) -> Ground:
    error, reference = ended.error, student.reference
    # Losses are read from the records first, not from the exception: a check may have swallowed that. The reference
    # comes before the student, so that our own fault costs no points.
    if reference is not None and reference.record.lost is not None:
        return Ground(Verdict.BROKEN, f"the reference was lost: {reference.record.lost.message}")
    lost = student.record.lost or (error if isinstance(error, WorkerLost) else None)
    if lost is not None:
        frames = existing(map(Line._make, lost.frames), student.files)
        lines = shown_lines(frames, student.folder)
        story = "\n".join([f"{lost.message}; it was then at", *lines]) if lines else lost.message
        return Ground(lost.verdict, lost.public, story, where_known(frames, student), unreadable=lost.in_load)
    if error is None:
        return Ground(Verdict.PASSED)
    # Student and reference raise in the same way; whose worker it was decides between a crash and a fault of ours.
    raised = raised_by_student(error)
    if raised is not None and reference is not None and raised.owner == reference.owner:
        return Ground(Verdict.BROKEN, f"the reference raised {raised.type}: {raised.text or raised.statement}")
    match error:
        case CheckFailed():
            return Ground(Verdict.FAILED, error.public, error.story, at_load=error.from_text)
        case NotUsable():
            unreadable = raised is not None
            return Ground(Verdict.ERROR, error.public, error.story, unreadable=unreadable, at_load=error.at_load)
        case CannotJudge():
            return Ground(
                Verdict.SKIPPED, error.public.split("\n")[0] if "\n" in error.public else error.public, error.story
            )
        case Inconclusive():
            return Ground(Verdict.INCONCLUSIVE, error.public, error.story)
        case CannotRun():
            return Ground(Verdict.NOT_RUN, error.public, error.story)
    if raised is not None:
        lines_that_exist = existing(raised.lines, student.files)
        return student_raised(replace(raised, lines=lines_that_exist), student)
    return _ended_by_the_check(error, ended, student)


def _ended_by_the_check(error: BaseException, ended: Ended, student: Connection) -> Ground:
    if isinstance(error, pytest.skip.Exception):
        return Ground(Verdict.NOT_RUN, error.msg or "")
    if isinstance(error, pytest.fail.Exception):
        return _failed_by_pytest(str(error))
    if isinstance(error, pytest.FixtureLookupError):
        given = f"unknown fixture `{error.argname}`: a check can use {', '.join(_FIXTURES)}, and those of its own file"
        return Ground(Verdict.BROKEN, given)
    # A name that should be a function and is a number: the check stumbles over it, but it is the student's mistake.
    if isinstance(error, TypeError) and (name := _called_value(error, ended.statement, student)):
        return Ground(Verdict.ERROR, say("`{}` in your file is not a function", name))
    if isinstance(error, AssertionError):
        return Ground(Verdict.FAILED, NOT_EXPECTED, _plain_assert(ended))
    return Ground(Verdict.BROKEN, f"{type(error).__name__}: {error}")


def _called_value(error: TypeError, statement: str, student: Connection) -> str:
    """The student's name that a check called although it is not a function, or ""."""
    if not _NOT_CALLABLE.match(str(error)):
        return ""
    called = re.findall(r"\bstudent\.(\w+)\(", statement)
    return next((name for name in called if student.names().get(name) == "value"), "")


def _failed_by_pytest(text: str) -> Ground:
    missing = _DID_NOT_RAISE.search(text)
    if missing is None:
        return Ground(Verdict.FAILED, NOT_EXPECTED, text)
    return Ground(Verdict.FAILED, say("expected {}, but nothing was raised", show.with_article(missing[1])))


def _plain_assert(ended: Ended) -> str:
    """A message for an `assert` without one: what does not hold, and both sides."""
    written = _author_message(ended)
    if written:
        return written
    head = f"this does not hold: {_condition(ended.statement)}" if ended.statement else str(NOT_EXPECTED)
    compared = ended.comparison
    if compared is None:
        return head
    names = ("got     ", "expected") if compared.op == "==" else ("left ", "right")
    return f"{head}\n{names[0]}  {show.show(compared.left)}\n{names[1]}  {show.show(compared.right)}"


def _condition(statement: str) -> str:
    text = textwrap.dedent(statement).strip()
    try:
        node = ast.parse(text).body[0]
    except (SyntaxError, IndexError):
        return text
    return ast.unparse(node.test) if isinstance(node, ast.Assert) else text


def _author_message(ended: Ended) -> str:
    """The message that an author wrote behind the comma, if there is one."""
    text = str(ended.error)
    return "" if text.startswith("assert ") or not text else text.split("\nassert ")[0]


# -- the text of a submission, which is read and never run -------------------------------------------------------------
