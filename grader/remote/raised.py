"""What student code raised, as the worker claims it: read, made an exception of ours again, and told."""

from __future__ import annotations

import builtins
import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch

from grader.model import Verdict
from grader.model.endings import CannotJudge, WorkerLost
from grader.model.public import Public, say
from grader.wire.bounds import Unsupported
from grader.wire.raised_rows import FrameRow, KindRow, RaisedRow

_NO_MEMORY = re.compile(r"can't allocate memory|not enough memory|Unable to allocate|out of memory", re.IGNORECASE)
_ARGUMENTS = re.compile(r"takes .*argument|missing .*argument|unexpected keyword|multiple values for")
_LEAF_CHANGED = "leaf Variable that requires grad is being used in an in-place operation"
_SHOWN_FRAMES = 3
_LONGEST = 400


@dataclass(frozen=True)
class Raised:
    """What student code raised, as the worker claims it.

    Attributes:
        type: class name.
        text: its message.
        frames: in the submission's own files, outermost first.
        what: what was called, such as "your `total`".
        owner: whose code it was: "your" or "the reference's".
        builtin: name of the nearest builtin type.
        signature: of a function that refused its arguments, or None.
        family: its class and those that it derives from, as far as they are no builtin ones.
        asked: where another error was asked: which one, and for what.
    """

    type: str
    text: str
    frames: tuple[FrameRow, ...]
    what: str
    owner: str
    builtin: str
    signature: str | None = None
    family: tuple[KindRow, ...] = ()
    asked: Public | None = None

    @classmethod
    def of(cls, row: RaisedRow, what: str, owner: str) -> Raised:
        """That of a claim, which does not say what was called."""
        return cls(row.type, row.text, row.frames, what, owner, row.builtin, row.signature, row.family)


def raised_by_student(error: BaseException) -> Raised | None:
    """What student code raised, or None if the exception is not from student code."""
    raised = error.__dict__.get("_raised")
    return raised if isinstance(raised, Raised) else None


def another_asked(error: BaseException, asked: Public) -> None:
    """Let what student code raised tell which error was asked instead, and for what."""
    if (raised := raised_by_student(error)) is not None:
        error.__dict__["_raised"] = replace(raised, asked=asked)


def exception_of(raised: Raised, own: type[Exception] | None = None, value: object = None) -> BaseException:
    """The exception as its plain builtin type, marked as coming from student code.

    Args:
        raised: what was raised.
        own: what stands for its class, if that is none of Python's.
        value: what stands for the exception itself, then.
    """
    # A limit that was met is no exception of the student's: WorkerLost derives from BaseException, so a check that
    # expects a RuntimeError does not take one of these for it.
    if (raised.type == "BlockingIOError" and "[Errno 11]" in raised.text) or "can't start new thread" in raised.text:
        return WorkerLost(
            Verdict.OVER_LIMIT, say("{} started more processes or threads than the exercise allows", raised.what)
        )
    if raised.type == "MemoryError" or (raised.type == "RuntimeError" and _NO_MEMORY.search(raised.text)):
        return WorkerLost(Verdict.OVER_LIMIT, say("{} asked for more memory than the exercise allows", raised.what))
    if own is not None:
        with contextlib.suppress(TypeError):  # one of PyTorch's may want other arguments
            own_error = own.__new__(own, raised.text)  # not called: the constructor of a student's is in the worker
            own_error.__dict__.update(_raised=raised, _object=value)
            return own_error
    kind: type[BaseException] = getattr(builtins, raised.builtin)
    if not issubclass(kind, Exception):  # SystemExit and its kin must not end a check
        kind = RuntimeError
    try:
        error = kind(raised.text)
    except TypeError:  # such as UnicodeDecodeError, which wants five arguments
        kind = next(base for base in kind.__mro__ if base in (ValueError, OSError, Exception))
        error = kind(raised.text)
    error.__dict__["_raised"] = raised
    return error


def load_message(module: str, raised: Raised, folder: str = "") -> str:
    """Why a submission does not load, for its author; `folder` as in `frame_lines`."""
    what = f"your {module}.py"
    head = left_over(raised, what) or f"{what} does not load: {told(raised)}"
    return "\n".join([head, *frame_lines(raised.frames, folder)])


def told(raised: Raised) -> str:
    """Type and text, as Python writes them; PyTorch's longest texts cut, which list what else there could be."""
    text = raised.text if len(raised.text) <= _LONGEST else f"{raised.text[:_LONGEST]} ..."
    if raised.type == "NotImplementedError" and "bitwise_xor" in raised.text:
        text += "\nin Python `^` is no power but an exclusive or; a power is `**`"
    return f"{raised.type}: {text}" if text else raised.type


def left_over(raised: Raised, what: str) -> Public | None:
    """A sentence of its own for what was put in to find a mistake, and stays where nobody can type."""
    if raised.type == "BdbQuit":
        return say("{} stops at a breakpoint; take it out, as nobody can type while it is graded", what)
    if raised.type == "EOFError" and "EOF when reading a line" in raised.text:
        return say("{} waits for `input()`; take it out, as nobody can type while it is graded", what)
    return None


def refuses_arguments(raised: Raised) -> bool:
    """Whether a function was called as its task says, and does not take that."""
    return bool(raised.signature) and not raised.frames and _ARGUMENTS.search(raised.text) is not None


def frame_lines(frames: Sequence[FrameRow], folder: str = "") -> list[str]:
    """Where student code was: the innermost lines of its own files.

    Args:
        frames: outermost first.
        folder: the one in which the files lie, as the student types it; "" where nobody does.
    """
    before = "" if folder in ("", ".") else f"{folder}/"
    lines = []
    # A recursion passes the same line many times; it is told once.
    places = {(file, line): (function, text) for file, line, function, text in frames}
    for (file, line), (function, text) in list(places.items())[-_SHOWN_FRAMES:]:
        place = f"    {before}{file}, line {line}" + (f", in {function}" if function and function != "<module>" else "")
        lines.append(place)
        if text.strip():
            lines.append(f"        {text.strip()}")
    return lines


def does_not_load(module: str, raised: Raised, folder: str, *, before: bool) -> CannotJudge:
    """What a check ends with where a file does not load; `before`: though it has done so before."""
    # Why may be told in full, as no hidden input is known yet. Where the file has loaded before, one may be.
    story = load_message(module, raised, folder)
    if before:
        return CannotJudge(say("{} loaded once, and does not any more", f"your {module}.py"), story)
    return CannotJudge(story, at_load=True, about="load")


def graph_stays(error: RuntimeError, args: Sequence[object], named: Mapping[str, object]) -> None:
    """Where a call raised this for the way in which student code is given arguments, it is no fault of its own.

    Raises:
        Unsupported: it wrote into a tensor that the check calculated from another one; where it runs that is a leaf.
    """
    raised = raised_by_student(error)
    if raised is None or _LEAF_CHANGED not in raised.text:
        return
    if any(isinstance(value, torch.Tensor) and value.grad_fn is not None for value in (*args, *named.values())):
        raise Unsupported(
            "student code may not write in place into what the check calculated from a tensor that requires a gradient "
            "(it gets a leaf): let a function of the probe file calculate that, call the student's function and give "
            "the numbers"
        ) from None
