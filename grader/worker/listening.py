"""What student code prints and warns of, for a check that listens."""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from typing import Any

import torch

from grader.worker.raising import family

_MOST_TEXT = 100_000
_MOST_WARNINGS = 100
_MOST_WARNING = 1000


class _Ear:
    """Listens to what one call prints and warns of."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._out, self._err = io.StringIO(), io.StringIO()
        self._stack.enter_context(contextlib.redirect_stdout(self._out))
        self._stack.enter_context(contextlib.redirect_stderr(self._err))
        # PyTorch gives many of its warnings once in a process.
        self._stack.callback(torch.set_warn_always, torch.is_warn_always_enabled())
        torch.set_warn_always(True)
        self._caught = self._stack.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")

    def heard(self) -> list[Any]:
        """Listen no longer; what was heard."""
        self._stack.close()
        out, err = self._out.getvalue(), self._err.getvalue()
        for stream, text in ((sys.stdout, out), (sys.stderr, err)):  # it counts as printed
            with contextlib.suppress(BaseException):  # the student may have closed it
                stream.write(text)
        rows = [_row(item) for item in self._caught[:_MOST_WARNINGS]]
        return [out[:_MOST_TEXT], err[:_MOST_TEXT], rows]


def _row(item: warnings.WarningMessage) -> list[Any]:
    """The nearest builtin class, those above it that are none, and the text."""
    kind = item.category
    builtin = next(base.__name__ for base in kind.__mro__ if base.__module__ == "builtins")
    return [builtin, [list(row) for row in family(kind)], str(item.message)[:_MOST_WARNING]]


_ears: list[_Ear] = []


def listen() -> None:
    """From now on, listen."""
    _ears.append(_Ear())


def heard() -> list[Any]:
    """What was printed and warned of since."""
    return _ears.pop().heard()
