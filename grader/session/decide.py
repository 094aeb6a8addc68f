"""From how a check ended to its verdict and its two texts: one for the student, one for staff.

Of a hidden check the student is told the property that failed, the contract line, and what to try. Student code knows
the hidden input by then, so that nothing which it chooses goes into it: no text, number or line of its own. `words`
holds that: a text with a word that was not known beforehand is not told at all, and staff read why.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import pytest

from grader.check import show
from grader.model import BROKEN_MESSAGE, WITHHELD, Check, Verdict
from grader.model.endings import CannotJudge, CannotRun, CheckFailed, Inconclusive, WorkerLost
from grader.model.public import NOT_ASKED, Public, say
from grader.remote.raised import Raised, frame_lines, left_over, raised_by_student, refuses_arguments, told
from grader.remote.side import Side
from grader.remote.sitting import Sitting
from grader.session.authors import Comparison, asks_for_nothing
from grader.session.reading import is_stub, lines_of, may_lack_return, text_of
from grader.session.words import ERRORS, Words
from grader.wire.raised_rows import FrameRow

_CANNOT_TELL = say("the result is not what is asked, and could not be compared with that")
_DID_NOT_RAISE = re.compile(r"DID NOT RAISE.*?(\w+)'?>?\)?$")
_DISK_FULL = re.compile(r"\[Errno (27|28|122)\]")  # EFBIG, ENOSPC, EDQUOT
_NOT_CALLABLE = re.compile(r"'\w+' object is not callable")
_COSTS = ("performance", "gradient", "memory", "device")
_ASKS_FOR_RETURN = " (is a `return` missing?)"
_MAX_MESSAGE = 6000
_FALLBACKS: Mapping[Verdict, Public] = {
    Verdict.SKIPPED: say("there is nothing to judge by"),
    Verdict.CRASHED: say("your code raised, or ended its process"),
    Verdict.TIMED_OUT: say("your code did not finish in time"),
    Verdict.OVER_LIMIT: say("your code used more than is allowed"),
    Verdict.NOT_RUN: say("this check cannot be run here"),
    Verdict.INCONCLUSIVE: say("the machine is too busy to tell"),
}
"""What is said by verdict where a text has words that were not known beforehand."""


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


@dataclass(frozen=True)
class _Ground:
    verdict: Verdict
    public: str = ""
    story: str = ""
    unreadable: bool = False  # nothing of the submission ran, so that no rule is at stake
    at_load: bool = False  # known before any hidden input was, so that it may be told in full


Decision = tuple[Verdict, str, str]
"""The verdict of a check, the message for its student, and the detail for staff."""


@dataclass(frozen=True)
class Telling:
    """What a student is told besides what went wrong.

    Attributes:
        contract: contract lines by name.
        words: what may be told of a hidden check.
    """

    contract: Mapping[str, str]
    words: Words


def decide(check: Check, ended: Ended, student: Side, reference: Side | None, telling: Telling) -> Decision:
    """What becomes of a check."""
    ground = _decide(ended, student, reference)
    if ground.verdict is Verdict.PASSED:
        return ground.verdict, "", ""
    detail = ground.story or ground.public
    # The student is told that the fault is ours, and nothing of it: a trace of our code could hold a hidden input.
    if ground.verdict is Verdict.BROKEN:
        return ground.verdict, BROKEN_MESSAGE, f"{detail}\n{ended.trace}"[:_MAX_MESSAGE]
    verdict, message, detail = _told(check, ground, detail, telling)
    # The kind of a value alone does not say it: a function may give None on purpose.
    if _ASKS_FOR_RETURN in message and not may_lack_return(student.sitting.files, student.called):
        message = message.replace(_ASKS_FOR_RETURN, "")
    # A print takes time; that of a tensor takes operations as well, and numbers out of PyTorch. Which functions print
    # is known from shown checks, so it tells nothing of a hidden one.
    loud = [what for what in student.printing if what.split()[-1] in message]
    if loud and verdict is Verdict.FAILED and check.category in _COSTS:
        message += f"\n{min(loud)} prints: that costs time, and of a tensor operations; take the print out first"
    return verdict, message, detail


def blame(check: Check, ended: Ended, detail: str, telling: Telling) -> Decision:
    """What becomes of a check that breaks with this answer, and passes with the reference in its place.

    Args:
        check: the check.
        ended: how it ended with this answer.
        detail: why it was called broken, for staff.
        telling: what the student is told besides.
    """
    kind = type(ended.error).__name__ if ended.error is not None else "nothing"
    ground = _Ground(Verdict.FAILED, _CANNOT_TELL, f"{_CANNOT_TELL} (the check met {show.with_article(kind)})")
    verdict, message, _ = _told(check, ground, ground.story, telling)
    return verdict, message, f"{_CANNOT_TELL}\n{detail}"[:_MAX_MESSAGE]


def _told(check: Check, ground: _Ground, detail: str, telling: Telling) -> Decision:
    """What the student reads: of a hidden check the property alone; staff read the whole story in any case."""
    text: str = detail
    if not check.shown:
        public = ground.public if ground.at_load else telling.words.told(ground.public)
        if public is None:
            public, detail = _FALLBACKS.get(ground.verdict, NOT_ASKED), f"{detail}\n{WITHHELD}: {ground.public}"
        text = str(public)
    rule = telling.contract.get(check.contract)
    if rule and not ground.unreadable:
        text += f"\n{check.contract}  {rule}"
    return ground.verdict, text[:_MAX_MESSAGE], detail[:_MAX_MESSAGE]


def _decide(ended: Ended, student: Side, reference: Side | None) -> _Ground:
    error = ended.error
    # Losses are read from the sittings first, not from the exception: a check may have swallowed that. The reference
    # comes before the student, so that our own fault costs nobody a point.
    if reference is not None and reference.sitting.lost is not None:
        return _Ground(Verdict.BROKEN, f"the reference was lost: {reference.sitting.lost.message}")
    lost = student.sitting.lost or (error if isinstance(error, WorkerLost) else None)
    if lost is not None:
        return _worker_lost(lost, student)
    if error is None:
        return _Ground(Verdict.PASSED)
    # Both sides raise in the same way; whose worker it was decides between a crash and a fault of ours.
    raised = raised_by_student(error)
    if raised is not None and reference is not None and raised.owner == reference.sitting.owner:
        return _Ground(Verdict.BROKEN, f"the reference raised {raised.type}: {raised.text}")
    if isinstance(error, CannotJudge):
        return _cannot_judge(error)
    if isinstance(error, Inconclusive):
        return _Ground(Verdict.INCONCLUSIVE, error.public, error.story)
    if isinstance(error, CannotRun):
        return _Ground(Verdict.NOT_RUN, error.public, error.story)
    if raised is not None:
        frames = _existing(raised.frames, student.sitting.files)
        return _student_raised(replace(raised, frames=frames), student.sitting)
    if isinstance(error, CheckFailed):
        return _Ground(Verdict.FAILED, error.public, error.story)
    return _ended_by_the_check(error, ended, student)


def _worker_lost(lost: WorkerLost, student: Side) -> _Ground:
    lines = frame_lines(
        _existing([FrameRow(*frame) for frame in lost.frames], student.sitting.files), student.sitting.folder
    )
    story = "\n".join([f"{lost.message}; it was then at", *lines]) if lines else lost.message
    return _Ground(lost.verdict, lost.public, story, unreadable=lost.in_load)


def _ended_by_the_check(error: BaseException, ended: Ended, student: Side) -> _Ground:
    if isinstance(error, pytest.skip.Exception):
        return _Ground(Verdict.NOT_RUN, error.msg or "")
    if isinstance(error, pytest.fail.Exception):
        return _failed_by_pytest(str(error))
    # A name that should be a function and is a number: the check stumbles over it, but it is the student's doing.
    if isinstance(error, TypeError) and (name := _called_value(error, ended.statement, student)):
        return _Ground(Verdict.SKIPPED, say("`{}` in your file is a value, a function is asked", name))
    if (there_is_none := asks_for_nothing(error, ended.comparison)) is not None:
        return _Ground(Verdict.BROKEN, there_is_none)
    if isinstance(error, AssertionError):
        return _Ground(Verdict.FAILED, NOT_ASKED, _plain_assert(ended))
    return _Ground(Verdict.BROKEN, f"{type(error).__name__}: {error}")


def _called_value(error: TypeError, statement: str, student: Side) -> str:
    """The student's name that a check called although it is no function, or ""."""
    if not _NOT_CALLABLE.match(str(error)):
        return ""
    called = re.findall(r"\bstudent\.(\w+)\(", statement)
    return next((name for name in called if student.names().get(name) == "value"), "")


def _cannot_judge(error: CannotJudge) -> _Ground:
    in_load = raised_by_student(error) is not None
    return _Ground(Verdict.SKIPPED, error.public, error.story, unreadable=in_load, at_load=error.at_load)


def _failed_by_pytest(text: str) -> _Ground:
    missing = _DID_NOT_RAISE.search(text)
    if missing is None:
        return _Ground(Verdict.FAILED, NOT_ASKED, text)
    return _Ground(Verdict.FAILED, say("{} is asked, nothing was raised", show.with_article(missing[1])))


def _student_raised(raised: Raised, sitting: Sitting) -> _Ground:
    lines = frame_lines(raised.frames, sitting.folder)
    # A stub as it was given out. It loses the points, but is not told as a crash. PyTorch raises such errors, too.
    if raised.type == "NotImplementedError" and raised.frames and _is_stub(raised.frames[-1], sitting.files):
        public = say("{} is not written yet (it raises NotImplementedError)", raised.what)
        return _Ground(Verdict.SKIPPED, public, "\n".join([public, *lines]))
    if (public_left := left_over(raised, raised.what)) is not None:
        return _Ground(Verdict.CRASHED, public_left, "\n".join([public_left, *lines]))
    # The nearest builtin type only: a class of the student's own could carry the hidden input in its name. Nor the
    # lines: which of a thousand raises it was is a number, too.
    kind = raised.builtin if raised.builtin in ERRORS else "an exception of another kind"
    public = say("{} raised {}", raised.what, kind)
    story = f"{raised.what} raised {told(raised)}"
    if raised.asked is not None:
        public = say("{}; {}", public, raised.asked)
        story = f"{raised.what} raised {raised.type}; {raised.asked}\n{told(raised)}"
    if raised.builtin == "OSError" and _DISK_FULL.search(raised.text):
        full = say("{} wrote more into files than is allowed", raised.what)
        return _Ground(Verdict.OVER_LIMIT, full, f"{full} ({raised.text})")
    if raised.type == "SystemExit":
        public = say("{} called exit() or sys.exit()", raised.what)
        story = str(public)
    if refuses_arguments(raised):  # a worker's free text: for shown checks and staff only
        lines = [f"    yours is {raised.what.split('`')[1]}{raised.signature}; keep the parameters of the starter"]
    return _Ground(Verdict.CRASHED, public, "\n".join([story, *lines]))


def _is_stub(frame: FrameRow, files: Mapping[str, bytes]) -> bool:
    file, line, *_ = frame
    return is_stub(files.get(file, b""), line)


def _existing(told: Iterable[FrameRow], files: Mapping[str, bytes]) -> tuple[FrameRow, ...]:
    """The frames that exist in the submitted files, their text taken from there, and names that do."""
    frames, rows = [], list(told)
    # A worker names its lines by number; their text comes from what was handed in, so that none can be made up.
    named = {(file, name) for file, _, name, _ in rows}
    known = {(file, name) for file, name in named if _has_word(text_of(files.get(file, b"")), name)}
    for file, line, function, _ in rows:
        lines = lines_of(files.get(file, b""))
        if 0 < line <= len(lines):
            frames.append(FrameRow(file, line, function if (file, function) in known else "", lines[line - 1]))
    return tuple(frames)


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
