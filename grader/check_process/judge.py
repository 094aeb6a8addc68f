"""One check of one student, from what it raised to its outcome: the verdict and two texts, for student and staff.

For a hidden check the student reads the property that failed, the rule, and what to try. Student code knows the hidden
input by then, so none of its free text, and no number, goes into the message. `words` ensures that: a text with a word
that was not known beforehand is not shown, and staff read why.

Where one run of a check decides nothing, it is run once more (`Judge`): student code gets copies of the arguments, or
the reference takes its place.

Below the message of a shown check stands a picture: that of what failed, or of shapes that were broadcast. A hidden
check has none, because every number in a picture could reveal its inputs.
"""

from __future__ import annotations

import ast
import linecache
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

from grader.check import show
from grader.check_process.checks import CollectedCheck
from grader.check_process.connections import Connections
from grader.check_process.features import FIXTURES
from grader.check_process.words import Ground, existing, may_lack_return, student_raised, where_known
from grader.connection.connection import Connection
from grader.connection.raised import Line, raised_by_student, refuses_arguments, shown_lines
from grader.connection.record import Call, Record
from grader.model import BROKEN_MESSAGE, WITHHELD, Check, Outcome, Verdict
from grader.model.endings import CannotJudge, CannotRun, CheckFailed, Inconclusive, NotUsable, WorkerLost
from grader.model.picture import NamedShape, Picture, Shapes
from grader.model.public_text import NOT_EXPECTED, Public, say

_OF_CATEGORY = {"correctness": "values", "error": "values"}
_CANNOT_TELL = say("this check could not go on with what your code returned, or with an argument that it changed")
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


def decide(
    row: CollectedCheck, error: BaseException | None, comparison: Comparison | None, student: Connection
) -> Outcome:
    """What becomes of a check.

    Args:
        row: the check.
        error: what it raised, or None.
        comparison: both sides of the plain assert that was looked at last.
        student: whose code it was run with.
    """
    check, record, path = row.check, student.record, row.file.path
    ground = _ground(error, path, comparison, student)
    verdict, message, detail = ground.verdict, "", ""
    if verdict is Verdict.BROKEN:
        # The student reads that the fault is ours, and nothing of it: a trace of our code could hold a hidden input.
        message, detail = BROKEN_MESSAGE, f"{ground.story or ground.public}\n{_trace(error)}"[:_MAX_MESSAGE]
    elif verdict is not Verdict.PASSED:
        message, detail = _texts(row, ground)
        # The kind of a value alone does not show it: a function may return None on purpose.
        if _ASKS_FOR_RETURN in message and not may_lack_return(student.files, record.called):
            message = message.replace(_ASKS_FOR_RETURN, "")
        # A print takes time; that of a tensor takes operations as well, and numbers out of PyTorch. Which functions
        # print is known from shown checks, so it says nothing of a hidden one.
        loud = [what for what in record.printing if what.split()[-1] in message]
        if loud and verdict is Verdict.FAILED and check.category in _COSTS:
            message += f"\n{min(loud)} prints: that costs time, and of a tensor operations; take the print out first"
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
        cause=cause_of(check, verdict, error or record.lost),
        picture=picture_of(check, verdict, error, record),
        line=0 if verdict is Verdict.PASSED else line_of(error, path),
        called=tuple(record.called),
    )


def blame(row: CollectedCheck, broken: Outcome, error: BaseException | None) -> Outcome:
    """What becomes of a check that breaks with this answer, and passes with the reference in its place.

    Args:
        row: the check.
        broken: its outcome with this answer.
        error: what it raised.
    """
    story = f"{_CANNOT_TELL} (the check met {show.with_article(type(error).__name__)})"
    message, _ = _texts(row, Ground(Verdict.FAILED, _CANNOT_TELL, story))
    detail = f"{_CANNOT_TELL}\n{broken.detail}"[:_MAX_MESSAGE]
    return replace(broken, verdict=Verdict.FAILED, message=message, detail=detail)


def line_of(error: BaseException | None, path: Path) -> int:
    """The innermost line of the check file on the way to where an error was raised, or 0."""
    frames = traceback.walk_tb(error.__traceback__ if error else None)
    return next((line for frame, line in reversed([*frames]) if frame.f_code.co_filename == str(path)), 0)


def _trace(error: BaseException | None) -> str:
    """Where an error was raised, for staff. Frames of pytest and its plugins explain nothing, so they are left out."""
    frames = traceback.extract_tb(error.__traceback__ if error else None)
    return "\n".join(f"{e.filename}:{e.lineno}: {e.name}: {e.line}" for e in frames if not _PYTESTS.search(e.filename))


def _raising(error: BaseException, path: Path) -> ast.stmt | None:
    """The innermost statement of the check file that raised, if it is there."""
    line = line_of(error, path)
    try:
        tree = _parsed("".join(linecache.getlines(str(path))))
    except (SyntaxError, ValueError):  # the file is another one by now: its author is at work
        return None
    statements = (node for node in ast.walk(tree) if isinstance(node, ast.stmt))
    around = [node for node in statements if node.lineno <= line <= (node.end_lineno or 0)]
    return around[-1] if around else None


def statement_of(error: BaseException, path: Path) -> str:
    """The statement of the check file that raised; of an `assert` the condition, of a block the first line."""
    innermost = _raising(error, path)
    if innermost is None:
        return ""
    return ast.unparse(innermost.test if isinstance(innermost, ast.Assert) else innermost).split("\n")[0]


_parsed = lru_cache(maxsize=20)(ast.parse)  # which takes longer than many a check


def cause_of(check: Check, verdict: Verdict, error: BaseException | None) -> str:
    """What ended a check, as one of `CAUSES`; "" if it passed, or if it is not the student's code that ended it.

    Of a hidden check the verdict and the category decide: what its inputs were must not show in a word.
    """
    if not verdict.lost:
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


def _texts(row: CollectedCheck, ground: Ground) -> tuple[str, str]:
    """What the student reads, of a hidden check the property alone; and what staff read, the whole story."""
    text = detail = ground.story or str(ground.public)
    if not row.check.shown:
        public = ground.public if ground.at_load else row.file.words.shown(ground.public)
        text = f"{public}{ground.of_small_set}"
        if public is None:
            text, detail = _FALLBACKS.get(ground.verdict, NOT_EXPECTED), f"{detail}\n{WITHHELD}: {ground.public}"
    rule = row.file.exercise.contract.get(row.check.contract)
    if rule and not ground.unreadable:
        text += f"\n{row.check.contract}  {rule}"
    return text[:_MAX_MESSAGE], detail[:_MAX_MESSAGE]


def _ground(error: BaseException | None, path: Path, comparison: Comparison | None, student: Connection) -> Ground:
    reference = student.reference
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
            # What was there once has been written: that it is gone is something that the code did.
            verdict = Verdict.ERROR if error.at_load else Verdict.CRASHED
            return Ground(verdict, error.public, error.story, unreadable=unreadable, at_load=error.at_load)
        case CannotJudge() | Inconclusive() | CannotRun():
            return Ground(_NOT_JUDGED[type(error)], error.public, error.story)
    if raised is not None:
        return student_raised(replace(raised, lines=existing(raised.lines, student.files)), student)
    return _ended_by_the_check(error, path, comparison, student)


def _ended_by_the_check(error: BaseException, path: Path, comparison: Comparison | None, student: Connection) -> Ground:
    match error:
        case pytest.skip.Exception():
            return Ground(Verdict.NOT_RUN, error.msg or "")
        case pytest.fail.Exception() if missing := _DID_NOT_RAISE.search(str(error)):
            return Ground(Verdict.FAILED, say("expected {}, but nothing was raised", show.with_article(missing[1])))
        case pytest.fail.Exception():
            return Ground(Verdict.FAILED, NOT_EXPECTED, str(error))
        case pytest.FixtureLookupError():
            own = f"a check can use {', '.join(FIXTURES)}, and those of its own file"
            return Ground(Verdict.BROKEN, f"unknown fixture `{error.argname}`: {own}")
        # A name that should be a function and is a number: the check stumbles over it, but it is the student's mistake.
        case TypeError() if _NOT_CALLABLE.match(str(error)) and (name := _called_value(error, path, student)):
            return Ground(Verdict.ERROR, say("`{}` in your file is not a function", name))
        case AssertionError():
            return Ground(Verdict.FAILED, NOT_EXPECTED, _plain_assert(error, path, comparison))
    return Ground(Verdict.BROKEN, f"{type(error).__name__}: {error}")


def _called_value(error: TypeError, path: Path, student: Connection) -> str:
    """The student's name that a check called although it is not a function, or ""."""
    statement = _raising(error, path)
    for node in ast.walk(statement) if statement is not None else ():
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name("student"), attr=name)):
                if student.names().get(name) == "value":
                    return name
    return ""


def _plain_assert(error: AssertionError, path: Path, comparison: Comparison | None) -> str:
    """What an author wrote behind the comma of an `assert`; without that, what does not hold, and both sides."""
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


# -- once more, where one run decides nothing --------------------------------------------------------------------------

AS_THEY_WERE = "(your code got copies of the arguments here, because it changes one of them)"
"""Below a message of a run in which student code got copies."""

_BY_VALUES = (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError)
"""What a check meets that takes a value for another kind of value."""


class Run(NamedTuple):
    """One run of a check: what becomes of it, and what it raised."""

    outcome: Outcome
    error: BaseException | None


Attempt = Callable[..., Run]
"""Runs the check once with a connection as the student's.

With `copying` its code gets copies of all arguments, with `rewrite` what that makes of them.
"""

Verdicts = dict[tuple[object, ...], Verdict]
"""How checks end with the reference in the student's place, while checks and references stay as they are."""


@dataclass(frozen=True)
class Judge:
    """One check and what it takes to run it.

    Attributes:
        row: the check.
        student: whose code it is run with.
        attempt: runs it.
        connections: give the reference in the student's place.
        verdicts: those with the reference in the student's place, of this check and others.
        seed: of the inputs.
    """

    row: CollectedCheck
    student: Connection
    attempt: Attempt
    connections: Connections
    verdicts: Verdicts
    seed: int

    def judge(self) -> Outcome:
        """The outcome that counts for this student."""
        outcome, error = self.attempt(self.student)
        # What student code makes of an argument does not count as expected, unless the check examines that: else
        # `x.zero_(); return x` would make `2 * x` right. Whether it does is seen by the reference that gets copies.
        rests = self.has_reference and self._may_rest_on_changes(outcome, error)
        if rests and self.of_reference(copying=True) in (Verdict.PASSED, Verdict.INCONCLUSIVE):
            copied, copied_error = self.attempt(self.student, copying=True)
            # A check that fails, and compares an argument itself, examines whether student code changes it.
            if outcome.verdict is Verdict.PASSED or not self.student.record.watched:
                outcome, error = copied, copied_error
                if copied.message:
                    note = f"\n{AS_THEY_WERE}"
                    outcome = replace(copied, message=copied.message + note, detail=copied.detail + note)
        if outcome.verdict is Verdict.BROKEN and self._is_students_fault(error):
            return blame(self.row, outcome, error)
        return outcome

    @property
    def has_reference(self) -> bool:
        """Whether there is one to take the student's place."""
        return self.row.file.exercise.reference is not None

    def of_reference(self, *, copying: bool = False) -> Verdict:
        """How the check ends with the reference in the student's place, which gets copies of the arguments or not."""
        # A change of arguments does not depend on the inputs.
        key = self.row.check.exercise, self.row.check.id, "copying" if copying else self.seed
        if key in self.verdicts:
            return self.verdicts[key]
        with closing(self.connections.of_reference(self.row.file.exercise, self.student.device)) as stand_in:
            verdict = self.attempt(stand_in, copying=copying).outcome.verdict
        if copying or verdict is Verdict.PASSED:  # any other may have been the machine's fault
            self.verdicts[key] = verdict
        return verdict

    def _may_rest_on_changes(self, outcome: Outcome, error: BaseException | None) -> bool:
        """Whether student code changed an argument that the check does not examine, so that it may rest on that."""
        if not self.student.record.changes or self.student.record.watched:
            return False
        # A failed plain assert may well be about the argument. Only of our own comparisons it is known what they
        # examine.
        by_value = isinstance(error, CheckFailed) and error.by_value
        return outcome.verdict is Verdict.PASSED or (outcome.verdict is Verdict.FAILED and by_value)

    def _is_students_fault(self, error: BaseException | None) -> bool:
        """Whether a check breaks by what student code returned: no submission can choose to be undecided.

        The same check with the reference in the student's place, and the same inputs, shows whose fault it is.
        """
        if self.has_reference:
            return self.of_reference() is Verdict.PASSED
        # A student's copy has no reference. Its checks were proved with one, so that an answer which a check cannot
        # take is the likelier fault.
        return bool(self.student.record.called) and isinstance(error, _BY_VALUES)


# -- pictures ----------------------------------------------------------------------------------------------------------

_WITH_PICTURE = (Verdict.FAILED, Verdict.CRASHED)
_CLASH = "must match the size of tensor"
"""What PyTorch says of operands that cannot be broadcast."""

_MOST_DIMS = 6


def picture_of(check: Check, verdict: Verdict, error: BaseException | None, record: Record) -> Picture | None:
    """The facts of a picture, or None.

    Args:
        check: the check.
        verdict: what became of it.
        error: what it raised.
        record: of the calls that it made.
    """
    if not check.shown or verdict not in _WITH_PICTURE or error is None:
        return None
    given = tuple(each for sent in record.sent[-1:] for each in _shapes_given(sent.read()))
    raised = raised_by_student(error)
    if raised is not None:
        # The operands of the line that raised are not known; drawn are the arguments, where they clash themselves.
        clashes = _CLASH in raised.text and _broadcast(given) is None
        return Picture(shapes=Shapes(given, broadcast=True)) if clashes and len(given) > 1 else None
    picture = error.picture if isinstance(error, CheckFailed) else None
    if picture is None or picture.shapes is None or len(given) < 2:
        return picture
    # A wrong shape that the arguments give by broadcasting is drawn as that.
    expected, got = (row.shape for row in picture.shapes.rows)
    stretched = any(row.shape != got for row in given) and _broadcast(given) == got
    return replace(picture, shapes=Shapes(given, broadcast=True, expected=expected)) if stretched else picture


def _shapes_given(call: Call) -> Iterator[NamedShape]:
    """The shapes of the tensors that a call was given."""
    for name, value in (
        *((f"argument {place}", each) for place, each in enumerate(call.args, 1)),
        *call.kwargs.items(),
    ):
        if isinstance(value, torch.Tensor) and value.dim() <= _MOST_DIMS:
            yield NamedShape(name, tuple(value.shape))


def _broadcast(given: tuple[NamedShape, ...]) -> tuple[int, ...] | None:
    """What the shapes give together; None if they clash."""
    try:
        return tuple(torch.broadcast_shapes(*(row.shape for row in given)))
    except RuntimeError:
        return None
