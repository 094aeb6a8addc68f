"""From how a check ended to its verdict and its two texts: one for the student, one for staff.

Of a hidden check the student is told the property that failed, the contract line, and what to try. Nothing that a
worker claims in free text (an exception's message, a class's name) goes into it: student code knows the hidden input by
then.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from grader.check import show
from grader.model import BROKEN_MESSAGE, Check, Verdict
from grader.model.endings import CannotJudge, CheckFailed, Inconclusive, WorkerLost
from grader.remote.raised import Raised, frame_lines, raised_by_student
from grader.remote.side import Side
from grader.wire.requests import FrameRow

_DID_NOT_RAISE = re.compile(r"DID NOT RAISE.*?(\w+)'?>?\)?$")
_DISK_FULL = re.compile(r"\[Errno (27|28|122)\]")  # EFBIG, ENOSPC, EDQUOT
_NOT_CALLABLE = re.compile(r"'\w+' object is not callable")
_MAX_MESSAGE = 6000


@dataclass(frozen=True)
class Comparison:
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
    """

    error: BaseException | None
    statement: str = ""
    comparison: Comparison | None = None
    trace: str = ""


@dataclass(frozen=True)
class _Ground:
    verdict: Verdict
    public: str = ""
    story: str = ""
    unreadable: bool = False  # nothing of the submission ran, so that no rule is at stake


Decision = tuple[Verdict, str, str]
"""The verdict of a check, the message for its student, and the detail for staff."""


def decide(check: Check, ended: Ended, student: Side, reference: Side | None, contract: Mapping[str, str]) -> Decision:
    """What becomes of a check."""
    ground = _decide(ended, student, reference)
    if ground.verdict is Verdict.PASSED:
        return ground.verdict, "", ""
    detail = ground.story or ground.public
    # The student is told that the fault is ours, and nothing of it: a trace of our code could hold a hidden input.
    if ground.verdict is Verdict.BROKEN:
        return ground.verdict, BROKEN_MESSAGE, f"{detail}\n{ended.trace}"[:_MAX_MESSAGE]
    return ground.verdict, _message(check, ground, detail, contract), detail[:_MAX_MESSAGE]


def blame(check: Check, ended: Ended, detail: str, contract: Mapping[str, str]) -> Decision:
    """What becomes of a check that breaks with this answer, and passes with the reference in its place.

    Args:
        check: the check.
        ended: how it ended with this answer.
        detail: why it was called broken, for staff.
        contract: contract lines by name.
    """
    public = "the result is not what is asked, and could not be compared with that"
    kind = type(ended.error).__name__ if ended.error is not None else "nothing"
    ground = _Ground(Verdict.FAILED, public, f"{public} (the check met {show.with_article(kind)})")
    return ground.verdict, _message(check, ground, ground.story, contract), f"{public}\n{detail}"[:_MAX_MESSAGE]


def _message(check: Check, ground: _Ground, detail: str, contract: Mapping[str, str]) -> str:
    """What the student reads: of a hidden check the property alone; staff read the whole story in any case."""
    text = detail if check.shown else ground.public
    rule = contract.get(check.contract)
    if rule and not ground.unreadable:
        text += f"\n{check.contract}  {rule}"
    if check.try_this and not check.shown and not ground.unreadable:
        text += f"\nTry this: {check.try_this}"
    return text[:_MAX_MESSAGE]


def _decide(ended: Ended, student: Side, reference: Side | None) -> _Ground:
    error = ended.error
    # Losses are read from the sittings first, not from the exception: a check may have swallowed that. The reference
    # comes before the student, so that our own fault costs nobody a point.
    if reference is not None and reference.sitting.lost is not None:
        return _Ground(Verdict.BROKEN, f"the reference was lost: {reference.sitting.lost.message}")
    lost = student.sitting.lost or (error if isinstance(error, WorkerLost) else None)
    if lost is not None:
        return _Ground(lost.verdict, lost.message, unreadable=lost.in_load)
    if error is None:
        return _Ground(Verdict.PASSED)
    # Both sides raise in the same way; whose worker it was decides between a crash and a fault of ours.
    raised = raised_by_student(error)
    if raised is not None and reference is not None and raised.owner == reference.sitting.owner:
        return _Ground(Verdict.BROKEN, f"the reference raised {raised.type}: {raised.text}")
    if isinstance(error, CannotJudge):
        return _cannot_judge(error)
    if isinstance(error, Inconclusive):
        return _Ground(Verdict.INCONCLUSIVE, str(error))
    if raised is not None:
        return _student_raised(_verified(raised, student.sitting.files))
    if isinstance(error, CheckFailed):
        return _Ground(Verdict.FAILED, error.public, error.story)
    return _ended_by_the_check(error, ended, student)


def _ended_by_the_check(error: BaseException, ended: Ended, student: Side) -> _Ground:
    if isinstance(error, pytest.skip.Exception):
        return _Ground(Verdict.NOT_RUN, str(error))
    if isinstance(error, pytest.fail.Exception):
        return _failed_by_pytest(str(error))
    # A name that should be a function and is a number: the check stumbles over it, but it is the student's doing.
    if isinstance(error, TypeError) and (name := _called_value(error, ended.statement, student)):
        return _Ground(Verdict.SKIPPED, f"`{name}` in your file is a value, a function is asked")
    if isinstance(error, AssertionError):
        return _Ground(Verdict.FAILED, "the result is not what is asked", _plain_assert(ended))
    return _Ground(Verdict.BROKEN, f"{type(error).__name__}: {error}")


def _called_value(error: TypeError, statement: str, student: Side) -> str:
    """The student's name that a check called although it is no function, or ""."""
    if not _NOT_CALLABLE.match(str(error)):
        return ""
    called = re.findall(r"\bstudent\.(\w+)\(", statement)
    return next((name for name in called if student.names().get(name) == "value"), "")


def _cannot_judge(error: CannotJudge) -> _Ground:
    text = str(error)
    # Why a file does not load may be told in full: no hidden input is known to it yet.
    in_load = raised_by_student(error) is not None
    return _Ground(Verdict.SKIPPED, text if in_load else text.split("\n")[0], text, unreadable=in_load)


def _failed_by_pytest(text: str) -> _Ground:
    missing = _DID_NOT_RAISE.search(text)
    public = (
        f"{show.with_article(missing[1])} is asked, nothing was raised"
        if missing
        else "the result is not what is asked"
    )
    return _Ground(Verdict.FAILED, public, public if missing else text)


def _student_raised(raised: Raised) -> _Ground:
    lines = frame_lines(raised)
    # A stub as it was given out. It loses the points, but is not told as a crash.
    if raised.type == "NotImplementedError":
        return _Ground(Verdict.SKIPPED, f"{raised.what} is not written yet (it raises NotImplementedError)")
    # The nearest builtin type only: a class of the student's own could carry the hidden input in its name.
    public = f"{raised.what} raised {raised.builtin}"
    story = f"{raised.what} raised {raised.type}: {raised.text}"
    if raised.builtin == "OSError" and _DISK_FULL.search(raised.text):
        full = f"{raised.what} wrote more into files than is allowed"
        return _Ground(Verdict.OVER_LIMIT, full, f"{full} ({raised.text})")
    if raised.type == "SystemExit":
        public = story = f"{raised.what} called exit() or sys.exit()"
    told = "\n".join([public, *lines])
    if raised.signature and not lines:  # a worker's free text: for shown checks and staff only
        lines = [f"    yours is {raised.what.split('`')[1]}{raised.signature}; keep the parameters of the starter"]
    return _Ground(Verdict.CRASHED, told, "\n".join([story, *lines]))


def _verified(raised: Raised, files: Mapping[str, bytes]) -> Raised:
    """The same with frames that exist in the submitted files, their text taken from there, and names that do."""
    frames = []
    # A worker names its lines by number; their text comes from what was handed in, so that none can be made up.
    texts = {file: files.get(file, b"").decode("utf-8-sig", "replace") for file, *_ in raised.frames}
    lines_of = {file: text.splitlines() for file, text in texts.items()}
    known = {(file, name): _has_word(texts[file], name) for file, _, name, _ in raised.frames}
    for file, line, function, _ in raised.frames:
        if 0 < line <= len(lines_of[file]):
            name = function if known[file, function] else ""
            frames.append(FrameRow(file, line, name, lines_of[file][line - 1]))
    return Raised(raised.type, raised.text, tuple(frames), raised.what, raised.owner, raised.builtin, raised.signature)


def _has_word(text: str, word: str) -> bool:
    return bool(word) and re.search(rf"\b{re.escape(word)}\b", text) is not None


def _plain_assert(ended: Ended) -> str:
    """A message for an `assert` without one: what does not hold, and both sides."""
    written = _author_message(ended)
    if written:
        return written
    head = (
        f"this does not hold: {_condition(ended.statement)}" if ended.statement else "the result is not what is asked"
    )
    compared = ended.comparison
    if compared is None:
        return head
    names = ("yours", "asked") if compared.op == "==" else ("left ", "right")
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
