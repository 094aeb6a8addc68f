"""What student code raised, as plain data: bounded text, names of types, lines of the submission's own files."""

from __future__ import annotations

import contextlib
import inspect
import os
import traceback
from collections.abc import Collection
from typing import Any

_MAX_TEXT = 2000
_MAX_LINES = 20


def exception_row(error: BaseException, folder: str, spaces: Collection[str]) -> dict[str, Any]:
    """An exception as plain data: its type and nearest builtin type, bounded text, the student's own lines.

    Args:
        error: what was raised.
        folder: where the submission's files are.
        spaces: of the names that a check can use; those of probe files are among them.
    """
    lines, statement = [], ""
    if isinstance(error, SyntaxError) and error.filename and _is_own(error.filename, folder):
        lines.append([_own_name(error.filename, folder), error.lineno or 0, "", cut(error.text or "")])
    frames = traceback.extract_tb(error.__traceback__)
    for frame in frames[-10 * _MAX_LINES :]:
        if _is_own(frame.filename, folder):
            lines.append([_own_name(frame.filename, folder), frame.lineno or 0, frame.name, cut(frame.line or "")])
    # An assertion of a probe is the course author's, and fails the check; one of the student's is an exception of
    # theirs.
    if isinstance(error, AssertionError) and frames and f"probe:{frames[-1].filename.removesuffix('.py')}" in spaces:
        statement = cut(frames[-1].line or "assert")
    signature = None if lines else error.__dict__.get("_signature")
    return {
        "type": cut(type(error).__name__.lstrip("_")),  # torch.linalg.LinAlgError calls itself _LinAlgError
        "builtin": next(base.__name__ for base in type(error).__mro__ if base.__module__ == "builtins"),
        "text": _text(error).replace(folder + os.sep, ""),
        "lines": lines[-_MAX_LINES:],
        "signature": signature,
        "statement": statement,
    }


def note_signature(error: TypeError, function: Any) -> None:
    """Keep the signature of a function that refused its arguments."""
    with contextlib.suppress(TypeError, ValueError):  # some functions of C's tell none
        error.__dict__["_signature"] = cut(str(inspect.signature(function)))


def cut(text: str) -> str:
    """A text of bounded length."""
    return text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + " ..."


def _is_own(filename: str, folder: str) -> bool:
    return os.path.isabs(filename) and os.path.realpath(filename).startswith(folder + os.sep)


def _own_name(filename: str, folder: str) -> str:
    return cut(os.path.relpath(os.path.realpath(filename), folder))


def _text(error: BaseException) -> str:
    try:
        if isinstance(error, SyntaxError):
            return cut(error.msg)
        text = error.args[0] if len(error.args) == 1 and type(error.args[0]) is str else str(error)
        return cut(text)
    except BaseException as second:  # a student's __str__ may do anything
        return f"(its text cannot be shown: {type(second).__name__})"
