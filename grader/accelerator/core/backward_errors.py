"""Errors of Python code in backward: of operators, hooks and saved tensors. PyTorch's engine would end the process.

While an error of Python comes up through it, the engine goes back to the stream it was on, and for that asks Python
what kind of device it is. Python does not answer with an error under way, and C++ ends the process. So the answer
takes the error away first, and who called backward raises it.
"""

from __future__ import annotations

import ctypes
from typing import Any

import torch

_KIND: Any = torch._C._autograd.DeviceType.PrivateUse1
_PARTS = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
_REFERENCES = tuple(map(ctypes.byref, _PARTS))
# Python code cannot clear an error that it did not catch. These need nothing of Python that stumbles over one.
_fetch = ctypes.pythonapi.PyErr_Fetch
_fetch.restype = None
_normalize = ctypes.pythonapi.PyErr_NormalizeException
_normalize.restype = None

_KEPT: list[BaseException] = []
_RUNNING: list[None] = []
"""One item for each backward that runs, of which one may run within another."""


class DeviceGuard(torch._C._acc.DeviceGuard):
    """The device guard that C++ calls in backward, for which it also stores an error that Python code raised."""

    def type_(self) -> Any:
        """Return the `DeviceType`, and store an error that Python code raised in backward.

        C++ calls this while the error is set in the interpreter. If it were still set after the call, C++ would end the
        process. `RaiseAtEnd` raises the stored error when backward ends.
        """
        if _RUNNING:
            _fetch(*_REFERENCES)
            if _PARTS[0].value:
                _store_fetched_error()
        return _KIND


def _store_fetched_error() -> None:
    """Store the Python error that `PyErr_Fetch` wrote to `_PARTS`.

    `RaiseAtEnd` raises it when backward ends.
    """
    _normalize(*_REFERENCES)
    _, error, trace = (ctypes.cast(part, ctypes.py_object).value if part.value else None for part in _PARTS)
    for part in _PARTS:
        if part.value:
            ctypes.pythonapi.Py_DecRef(part)
    assert error is not None  # it is made of its type where it was not
    _KEPT.append(error.with_traceback(trace))


class RaiseAtEnd:
    """The context in which backward runs: it raises, at its end, the error that Python code raised during backward."""

    # A class: a generator's frame of contextlib would stand in what people read of their own errors.
    def __enter__(self) -> None:
        if not _RUNNING:
            _KEPT.clear()  # of a hook that caught what came of its error
        _RUNNING.append(None)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        _RUNNING.pop()
        if isinstance(error, Exception) and _KEPT:
            raise _KEPT.pop() from None
