"""Which functions of PyTorch's a call uses, by name, and where the student's code wrote that. What is told is a claim.

What PyTorch's own functions use in turn does not count: `softmax` is one use, however it works inside.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_PATHS = ("stdlib", "platstdlib", "purelib", "platlib")
_LIBRARIES = tuple(
    {
        os.path.realpath(place) + os.sep
        for place in (
            *(sysconfig.get_path(name) for name in _PATHS),
            *(str(Path(module).parents[1]) for module in (str(torch.__file__), __file__)),
        )
    }
)
_BETWEEN = ("overrides.py", "_jit_internal.py")
"""Files of PyTorch's that only lead from the name that was called to the hook."""
_MOST = 300
_LONGEST = 200


def used(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> tuple[Any, list[list[Any]]]:
    """The result, and rows of a name, a file and a line, each once, in the order of the first use."""
    with _Names() as seen:
        result = function(*args, **kwargs)
    return result, [list(row) for row in seen.rows]


class _Names(TorchFunctionMode):
    """Sees what is used, and from where."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[tuple[str, str, int], None] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        if len(self.rows) < _MOST:
            self.rows[_use(func, sys._getframe(1))] = None
        return func(*args, **(kwargs or {}))


def _use(func: Any, frame: FrameType | None) -> tuple[str, str, int]:
    """The name that the student's code used, with the place: of a library's function that it called, that one's."""
    name = _name_of(func)
    below: FrameType | None = None
    for caller in _callers(frame):
        if not _is_library(caller):
            told = name if below is None or _is_between(below, name) else _called(below)
            return told[:_LONGEST], caller.f_code.co_filename[-_LONGEST:], caller.f_lineno
        below = caller
    return name[:_LONGEST], "", 0


def _callers(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _name_of(func: Any) -> str:
    name = str(getattr(func, "__name__", ""))
    # A property arrives as the method of its descriptor.
    return str(getattr(getattr(func, "__self__", None), "__name__", name)) if name in ("__get__", "__set__") else name


def _is_library(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    return file.startswith((*_LIBRARIES, "<frozen")) or os.path.realpath(file).startswith(_LIBRARIES)


def _is_between(frame: FrameType, name: str) -> bool:
    return frame.f_code.co_name in (name, "wrapped") or os.path.basename(frame.f_code.co_filename) in _BETWEEN


def _called(frame: FrameType) -> str:
    """What a student called that led here: a function, or an object of a class."""
    name = frame.f_code.co_name
    own = frame.f_locals.get("self")
    return type(own).__name__ if own is not None and name.startswith("_") else name
