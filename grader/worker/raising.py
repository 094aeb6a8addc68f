"""What student code raised, as plain data: bounded text, names of classes, lines of the submission's own files."""

from __future__ import annotations

import inspect
import os
import traceback
from collections.abc import Callable
from typing import Any

from grader.wire.raised_rows import FrameRow, KindRow, RaisedRow
from grader.wire.tree import Plain

_MAX_TEXT = 2000
_MAX_NAME = 200
_MAX_FRAMES = 20


def raised_row(error: BaseException, folder: str, value: Callable[[object], Plain]) -> RaisedRow:
    """An exception as plain data: names of its type and nearest builtin, bounded text, the student's own lines.

    Args:
        error: what was raised.
        folder: where the submission's files are.
        value: writes an object into the answer. One of a class of the student's own may have attributes of theirs.
    """
    frames = []
    if isinstance(error, SyntaxError) and error.filename and _is_own(error.filename, folder):
        frames.append(FrameRow(_own_name(error.filename, folder), error.lineno or 0, "", cut(error.text or "")))
    for frame in traceback.extract_tb(error.__traceback__)[-10 * _MAX_FRAMES :]:
        if _is_own(frame.filename, folder):
            place = _own_name(frame.filename, folder), frame.lineno or 0
            frames.append(FrameRow(*place, frame.name, cut(frame.line or "")))
    kinds = family(type(error))
    signature = error.__dict__.get("_signature") if not frames else None
    # What is kept for the check's questions keeps no frame alive, and no argument in one.
    error.__traceback__ = error.__context__ = error.__cause__ = None
    return RaisedRow(
        type=cut(type(error).__name__.lstrip("_")),  # torch.linalg.LinAlgError calls itself _LinAlgError
        builtin=_nearest_builtin(type(error)),
        text=_text(error).replace(folder + os.sep, ""),
        frames=tuple(frames[-_MAX_FRAMES:]),
        signature=signature,
        family=tuple(KindRow(name, tuple(bases)) for name, bases in kinds),
        value=value(error) if kinds else None,
    )


def family(kind: type[BaseException]) -> list[tuple[str, list[str]]]:
    """A class of exceptions and those that it derives from, as far as Python has not built them in; the last is it."""
    own = [base for base in reversed(kind.__mro__) if base.__module__ != "builtins" and issubclass(base, BaseException)]
    return [(_full_name(base), [_full_name(above) for above in base.__bases__]) for base in own]


def note_signature(error: TypeError, function: Any) -> None:
    """Keep the signature of a function that refused its arguments."""
    try:
        error.__dict__["_signature"] = cut(str(inspect.signature(function)))
    except (TypeError, ValueError):
        error.__dict__["_signature"] = None


def cut(text: str) -> str:
    """A text of bounded length."""
    return text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + " ..."


def _full_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"[:_MAX_NAME]


def _is_own(filename: str, folder: str) -> bool:
    return os.path.isabs(filename) and os.path.realpath(filename).startswith(folder + os.sep)


def _own_name(filename: str, folder: str) -> str:
    return cut(os.path.relpath(os.path.realpath(filename), folder))


def _nearest_builtin(kind: type[BaseException]) -> str:
    return next(base.__name__ for base in kind.__mro__ if base.__module__ == "builtins")


def _text(error: BaseException) -> str:
    try:
        return cut(error.msg if isinstance(error, SyntaxError) else str(error))
    except BaseException as second:  # a student's __str__ may do anything
        return f"(its text cannot be shown: {type(second).__name__})"
