"""Keeps a process from importing the parts of PyTorch that take seconds to import, until they are used.

These are its compiler, and the tensors of many machines, which `torch.testing.assert_close` would import to look
for such tensors. Workers and check processes use it.
"""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import torch
from torch import _compile
from torch.optim import Optimizer, optimizer
from torch.testing import _comparison

_COMPILER = "torch._dynamo"
_DISTRIBUTED = "torch.distributed.tensor"
_UNWRAP = "_unwrap_dtensor_for_comparison"
_KEPT = "__dynamo_disable"
"""Where PyTorch stores what to run in place of a function; what is there is used without an import."""


def skip_slow_imports() -> None:
    """Keep functions of PyTorch from importing its compiler, which takes seconds.

    These are functions that PyTorch never compiles: the steps of optimizers, checkpoints, and the Python code of
    operators on the meta device, as far as they are loaded by now. They run as without this patch once the compiler is
    loaded. `torch.testing.assert_close` does not import `torch.distributed.tensor` any more, either.

    The functions are found through the garbage collector, so this must come before `gc.freeze`.
    """
    # PyTorch keeps no list of them; what they have in common is the code of what they are wrapped in.
    if (wrapper := _code_within(_compile._disable_dynamo)) is not None:
        for function in gc.get_referrers(wrapper):
            if isinstance(function, FunctionType) and function.__closure__ is not None:
                cells = dict(zip(wrapper.co_freevars, function.__closure__, strict=True))
                plain, recursive = cells["fn"].cell_contents, cells["recursive"].cell_contents
                vars(plain).setdefault(_KEPT, _skip_compiler(plain, recursive))
    if (wrapper := _code_within(optimizer._use_grad_for_differentiable)) is not None:
        for kind in Optimizer.__subclasses__():
            step = vars(kind).get("step")
            if isinstance(step, FunctionType) and step.__code__ is wrapper:
                kind.step = _step_without_compiler(step)  # type: ignore[method-assign]
    if (unwrap := getattr(_comparison, _UNWRAP, None)) is not None:
        setattr(_comparison, _UNWRAP, lambda *both: unwrap(*both) if _DISTRIBUTED in sys.modules else both)


def _code_within(decorator: Callable[..., Any]) -> CodeType | None:
    return next((item for item in decorator.__code__.co_consts if isinstance(item, CodeType)), None)


def _skip_compiler(plain: Callable[..., Any], recursive: bool) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        if (compiler := sys.modules.get(_COMPILER)) is None:
            return plain(*args, **kwargs)
        chosen = vars(plain)[_KEPT] = compiler.disable(plain, recursive, wrapping=False)
        return chosen(*args, **kwargs)

    return run


def _step_without_compiler(step: FunctionType) -> Callable[..., Any]:
    """Return a wrapper of an optimizer's `step` that does not import PyTorch's compiler."""

    @functools.wraps(step)
    def run(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        if _COMPILER in sys.modules:
            return step(self, *args, **kwargs)
        with torch.set_grad_enabled(self.defaults["differentiable"]):
            return step.__wrapped__(self, *args, **kwargs)  # type: ignore[attr-defined]

    return run
