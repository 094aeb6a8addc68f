"""Modules that move keep their parameters as the same objects, as on CUDA."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch._C import TensorBase

from grader.accelerator.core.tensor import SimTensor, exchange_contents, parameter_like, set_data
from grader.accelerator.replacing import TensorAttribute, put
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Keep the parameters of a module the same objects when the module moves.

    So an optimizer that was made before goes on training them, as on CUDA. For this, `Module._apply` and `Tensor.data`
    are replaced.
    """
    del machine
    original: Any = torch.nn.Module._apply

    @functools.wraps(original)
    def apply(self: Any, fn: Any, recurse: bool = True) -> Any:
        """Apply a function to all tensors of a module and its children.

        Parameters that move stay the same objects.
        """
        # PyTorch's own would put new Parameter objects into a module that changes the device, and an optimizer made
        # before would train the old ones. On CUDA they stay the same objects, and so they do here.
        known: dict[int, torch.Tensor] = {}

        def move_once(tensor: torch.Tensor) -> Any:
            with torch.no_grad():
                return known.pop(id(tensor)) if id(tensor) in known else fn(tensor)

        params = [param for param in self._parameters.values() if param is not None]
        _move_lazy(self, move_once)
        params = [param for param in params if not torch.nn.parameter.is_lazy(param)]
        # The first parameter tells where all go. It is moved once: moving it again for real would be counted twice.
        first = params[0] if params else None
        if first is not None:
            known[id(first)] = move_once(first)
        if first is None or (not isinstance(first, SimTensor) and not isinstance(known[id(first)], SimTensor)):
            # No device of ours has to do with it: PyTorch's way, from the beginning.
            known.clear()
            return original(self, fn, recurse)
        for child in self.children() if recurse else ():
            child._apply(fn)
        if isinstance(self, torch.jit.ScriptModule):
            # Its parameters lie in C++; what Python gives looks at the same memory, and to move that moves nothing.
            named: Any = self._parameters
            for name, param in list(named.items()):
                named[name] = torch.nn.Parameter(move_once(param), param.requires_grad)
            params = []
        for param in params:
            _move_parameter(param, move_once)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def data(self: torch.Tensor) -> torch.Tensor:
        return TensorBase.data.__get__(self)  # type: ignore[attr-defined, no-any-return]

    put(torch.nn.Module, "_apply", apply)
    put(torch.Tensor, "data", TensorAttribute(data, set_data))


def _move_lazy(module: torch.nn.Module, move: Any) -> None:
    """Move the uninitialized parameters and buffers of a module.

    The parameters stay the same objects. `move` is a function that returns a moved tensor.
    """
    is_lazy: Any = torch.nn.parameter.is_lazy
    for param in filter(is_lazy, module._parameters.values()):
        if (new := move(param)) is not param:
            param.data = new
            param.__dict__.update(new.__dict__)
    for name, buffer in module._buffers.items():
        if is_lazy(buffer):
            module._buffers[name] = new = move(buffer)
            new.__dict__.update({**buffer.__dict__, **new.__dict__})


def _move_parameter(param: torch.Tensor, move: Any) -> None:
    # The gradient is taken along, as PyTorch does; it is set again at last, when the parameter has its new place.
    new = move(param)
    grad = None if param.grad is None else move(param.grad).requires_grad_(param.grad.requires_grad)
    if new is not param:
        exchange_contents(param, parameter_like(param, new))
    param.grad = grad
