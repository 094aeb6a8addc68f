"""`torch.cond` and its like run on tensors of the device."""

from __future__ import annotations

from typing import Any

import torch
from torch._C import DispatchKey
from torch._ops import HigherOrderOperator
from torch.utils._python_dispatch import _get_current_dispatch_mode
from torch.utils._pytree import tree_any

from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.refusals import refusal
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine

_CONTROL_FLOW = {"cond", "while_loop", "map_impl", "scan", "associative_scan"}
"""Operators that call functions of the program, and whose formula in PyTorch is plain Python."""

_NO_RULE = "There was no rule registered for HOP"


def install(machine: Machine) -> None:
    """Let `torch.cond` and its like run on tensors of the device.

    For CUDA, PyTorch compiles these operators. Here they run by PyTorch's formula in plain Python, which calls the
    program's functions and through which autograd works. Other higher-order operators raise if PyTorch has no rule for
    them.
    """
    del machine
    original: Any = HigherOrderOperator.__call__

    def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call a higher-order operator; with a tensor of the device, run its formula or refuse it."""
        if not tree_any(_is_on_device, (args, kwargs)):
            return original(self, *args, **kwargs)
        # What traces a program has its own rules for them. That of `vmap` takes what the compiler makes of them.
        if self._name in _CONTROL_FLOW and _get_current_dispatch_mode() is None:
            transform = torch._C._functorch.peek_interpreter_stack()
            if transform is not None and transform.key() == torch._C._functorch.TransformType.Vmap:
                raise refusal(f"The operator '{self._name}' within vmap is not supported on the simulated device.")
            return self.py_kernels[DispatchKey.CompositeExplicitAutograd](*args, **kwargs)
        try:
            return original(self, *args, **kwargs)
        except NotImplementedError as error:
            if not str(error).startswith(_NO_RULE):
                raise
            why = f"The operator '{self._name}' of higher order is not supported on the simulated device."
            raise refusal(why) from None

    put(HigherOrderOperator, "__call__", call)


def _is_on_device(value: Any) -> bool:
    # A transform of `torch.func` wraps the tensors that a function gets.
    while isinstance(value, torch.Tensor) and torch._C._functorch.is_functorch_wrapped_tensor(value):
        value = torch._C._functorch.get_unwrapped(value)
    return isinstance(value, SimTensor)
