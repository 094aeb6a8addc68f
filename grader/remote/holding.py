"""What holds in one process alone, and so for a check and not for student code: what a check may have set, by name.

Some of it can be asked for, and is, at each call. What is put in another's place is noted when that is done: by
`unittest.mock`, or as an attribute of a module that student code uses, too.
"""

from __future__ import annotations

import builtins
import locale
import logging
import math
import os
import random
import sys
import time
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch import _tensor_str
from torch.nn.modules import module as hooks

_OWN_VARIABLES = ("PYTEST_", "TORCH", "PYTORCH", "TRITON", "CUDA", "CUBLAS", "KINETO")
"""How variables begin that pytest sets in each phase of a check, and PyTorch where it is used."""
_MODULES = (
    *(torch, torch.nn, torch.nn.functional, torch.nn.init, torch.linalg, torch.fft, torch.special, torch.optim),
    *(np, np.linalg, np.random, random, math, time, os, builtins),
)

_patched: set[int] = set()
"""What `unittest.mock` has put something else in the place of, just now."""
_replaced: dict[str, object] = {}
"""What an assignment has put something else in the place of, by its name: what was there."""
_seen: dict[object, object] = {}
_read: list[dict[str, str]] = [{}]
"""The variables when they were looked at last, as they are and as they count: another dict when they differ."""
_handlers: set[tuple[int, int]] = set()
"""Handlers that loggers have got."""


def note_patches() -> None:
    """From now on, note what something else is put in the place of, and who listens to loggers."""
    enter, leave = mock._patch.__enter__, mock._patch.__exit__

    def entered(self: Any) -> Any:
        _patched.add(id(self))
        return enter(self)

    def left(self: Any, *raised: Any) -> Any:
        _patched.discard(id(self))
        return leave(self, *raised)

    mock._patch.__enter__ = entered  # type: ignore[method-assign]
    mock._patch.__exit__ = left  # type: ignore[method-assign]
    for module in _MODULES:
        if type(module) is ModuleType:
            module.__class__ = _Noting
    _note_handlers()


class _Noting(ModuleType):
    """A module that notes what is put in the place of a name of its."""

    def __setattr__(self, name: str, value: object) -> None:
        """Set a name; a new one takes nothing's place."""
        before, whole = vars(self).get(name, self), f"{self.__name__}.{name}"
        if whole in _replaced:
            if _replaced[whole] is value:
                del _replaced[whole]
        elif before is not self and before is not value and not name.startswith("__"):
            _replaced[whole] = before
        super().__setattr__(name, value)


def _note_handlers() -> None:
    add, remove = logging.Logger.addHandler, logging.Logger.removeHandler

    def added(self: logging.Logger, handler: logging.Handler) -> None:
        _handlers.add((id(self), id(handler)))
        add(self, handler)

    def removed(self: logging.Logger, handler: logging.Handler) -> None:
        _handlers.discard((id(self), id(handler)))
        remove(self, handler)

    logging.Logger.addHandler = added  # type: ignore[method-assign, assignment]
    logging.Logger.removeHandler = removed  # type: ignore[method-assign, assignment]


def holding() -> dict[str, object]:
    """What holds for all code of this process, by what messages call it."""
    return {
        "torch.autocast": torch.is_autocast_enabled("cpu"),
        "torch.set_default_dtype": torch.get_default_dtype(),
        "a TorchFunctionMode or `with torch.device(...)`": torch._C._len_torch_function_stack(),
        "a TorchDispatchMode": torch._C._len_torch_dispatch_stack(),
        "unittest.mock.patch": len(_patched),
        f"what was put in the place of {', '.join(_replaced)}": len(_replaced),
        "torch.jit.trace": torch._C._is_tracing(),
        "a profiler": torch._C._autograd._profiler_enabled(),
        "torch.use_deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
        "torch.autograd.detect_anomaly": torch.is_anomaly_enabled(),
        "torch.autograd.graph.saved_tensors_hooks": torch._C._autograd._top_saved_tensors_default_hooks(False),
        "a hook of all modules": [
            *hooks._global_forward_hooks,
            *hooks._global_forward_pre_hooks,
            *hooks._global_backward_hooks,
        ],
        "torch.set_num_threads": torch.get_num_threads(),
        "torch.set_float32_matmul_precision": torch.get_float32_matmul_precision(),
        "torch.set_printoptions": tuple(vars(_tensor_str.PRINT_OPTS).values()),
        "np.set_printoptions": np.get_printoptions(),
        "np.errstate": np.geterr(),
        "os.environ": _variables(),
        "os.chdir": os.getcwd(),
        "sys.path": tuple(sys.path),
        "sys.argv": tuple(sys.argv),
        "sys.stdin": sys.stdin,
        "sys.setrecursionlimit": sys.getrecursionlimit(),
        "locale.setlocale": locale.setlocale(locale.LC_ALL),
        "a handler of `logging`": len(_handlers),
    }


def _variables() -> dict[str, str]:
    """What is set for all; PyTorch sets some of its own, as late as when an optimizer first steps."""
    encoded = os.environ._data  # type: ignore[attr-defined]
    if encoded != _seen:  # hardly ever: names are read only then
        _seen.clear()
        _seen.update(encoded)
        _read[0] = {name: value for name, value in os.environ.items() if not name.startswith(_OWN_VARIABLES)}
    return _read[0]
