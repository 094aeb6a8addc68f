"""What student code raised, as the worker claims it: read, made an exception of ours again, and told."""

from __future__ import annotations

import builtins
import contextlib
import re
from dataclasses import dataclass

from grader.model import Verdict
from grader.model.endings import WorkerLost
from grader.model.public import say
from grader.wire.requests import FrameRow, KindRow, RaisedRow

_NO_MEMORY = re.compile(r"can't allocate memory|not enough memory|Unable to allocate|out of memory", re.IGNORECASE)
_SHOWN_FRAMES = 3


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
    """

    type: str
    text: str
    frames: tuple[FrameRow, ...]
    what: str
    owner: str
    builtin: str
    signature: str | None = None
    family: tuple[KindRow, ...] = ()

    @classmethod
    def of(cls, row: RaisedRow, what: str, owner: str) -> Raised:
        """That of a claim, which does not say what was called."""
        return cls(row.type, row.text, row.frames, what, owner, row.builtin, row.signature, row.family)


def raised_by_student(error: BaseException) -> Raised | None:
    """What student code raised, or None if the exception is not from student code."""
    raised = error.__dict__.get("_raised")
    return raised if isinstance(raised, Raised) else None


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


def load_message(module: str, raised: Raised) -> str:
    """Why a submission does not load, for its author."""
    head = f"your {module}.py does not load: {raised.type}: {raised.text}"
    return "\n".join([head, *frame_lines(raised)])


def frame_lines(raised: Raised) -> list[str]:
    """Where student code raised: the innermost lines of its own files."""
    lines = []
    # A recursion passes the same line many times; it is told once.
    places = {(file, line): (function, text) for file, line, function, text in raised.frames}
    for (file, line), (function, text) in list(places.items())[-_SHOWN_FRAMES:]:
        place = f"    {file}, line {line}" + (f", in {function}" if function and function != "<module>" else "")
        lines.append(place)
        if text.strip():
            lines.append(f"        {text.strip()}")
    return lines
