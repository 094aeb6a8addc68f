"""Backward, and parameters that move with their module and stay the same objects, as on CUDA."""

from __future__ import annotations

import functools
import os
import re
import sys
from typing import Any

import torch
from torch._C import TensorBase

from grader.accelerator.machine import INNER, Machine
from grader.accelerator.tensor import SimTensor, become, set_data

# The type checker refuses assignments to functions of torch; through `Any` it lets them pass.
put: Any = setattr


def replace_backward(machine: Machine) -> None:
    """Run backward in the calling thread: PyTorch has no thread for indices above 0."""
    torch._C._set_multithreading_enabled(False)
    original: Any = torch.autograd.graph._engine_run_backward

    def run_backward(*args: Any, **kwargs: Any) -> Any:
        before = torch._C._is_multithreading_enabled()
        # For each call again: the program may have switched it on meanwhile.
        torch._C._set_multithreading_enabled(False)
        try:
            return original(*args, **kwargs)
        except RuntimeError as error:
            # C++ writes the inner names into errors of backward; Python code is to see those that it knows.
            text = re.sub(rf"\b{INNER}(\w+)Type\b", rf"torch.{machine.kind}.\1Tensor", str(error))
            text = text.replace(f"{INNER}:", f"{machine.kind}:")
            if type(error) is not RuntimeError or text == str(error):
                raise
            raise RuntimeError(text) from None
        finally:
            torch._C._set_multithreading_enabled(before)

    for owner in (torch.autograd, torch.autograd.graph):
        put(owner, "_engine_run_backward", run_backward)


def check_gradients(machine: Machine) -> None:
    """Let a custom function give gradients on the right device only; PyTorch does not check tensors like ours."""
    node: Any = torch.autograd.function.BackwardCFunction
    original = node.apply

    @functools.wraps(original)
    def apply(self: Any, *args: Any) -> Any:
        grads = original(self, *args)
        given = grads if isinstance(grads, tuple) else (grads,)
        # `next_functions` has an entry for each tensor that went in, empty where none needs a gradient;
        # `needs_input_grad` has one for everything that went in.
        edges = [edge for edge in self.next_functions if edge[0] is not None]
        for i, needed in enumerate(self.needs_input_grad):
            if not needed or not edges:
                continue
            source, number = edges.pop(0)
            if i < len(given) and isinstance(given[i], torch.Tensor) and given[i].dim():
                wanted = machine.public(source._input_metadata[number].device)
                if (machine.is_ours(wanted) or machine.is_ours(given[i].device)) and wanted != given[i].device:
                    raise RuntimeError(
                        f"Function {self.name()} returned an invalid gradient at index {i} - expected device {wanted} "
                        f"but got {given[i].device}"
                    )
        return grads

    put(node, "apply", apply)


def refuse_autocast(machine: Machine) -> None:
    """`torch.autocast` would do nothing, silently; it raises."""
    autocast: Any = torch.amp.autocast_mode.autocast
    original = autocast.__init__

    @functools.wraps(original)
    def init(self: Any, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: Any = None) -> None:
        if machine.is_ours(device_type) and enabled:
            raise NotImplementedError(f"autocast is not supported on the simulated device {machine.kind}")
        # Switched off it does nothing on any device, and this one it would not know.
        original(self, "cpu" if machine.is_ours(device_type) else device_type, dtype, enabled, cache_enabled)

    put(autocast, "__init__", init)


_LAZY = "lazy modules are not supported on the simulated device before their first call"


def refuse_data_parallel() -> None:
    """`torch.nn.DataParallel` needs kernels of CUDA's."""

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        del self, args, kwargs
        raise NotImplementedError("torch.nn.DataParallel is not supported on the simulated device")

    put(torch.nn.DataParallel, "forward", forward)


def refuse_lazy(machine: Machine) -> None:
    """Parameters without a shape need a class of their own, which tensors of the device cannot have."""

    def refusing(original: Any) -> Any:
        @functools.wraps(original)
        def new(cls: Any, *args: Any, **kwargs: Any) -> Any:
            if machine.is_ours(kwargs.get("device") or torch.get_default_device()):
                raise NotImplementedError(_LAZY)
            return original(cls, *args, **kwargs)

        return new

    for kind in (torch.nn.parameter.UninitializedParameter, torch.nn.parameter.UninitializedBuffer):
        put(kind, "__new__", staticmethod(refusing(kind.__new__)))


def compile_nothing() -> None:
    """`torch.compile` gives the function as it is: PyTorch has no compiler for this device."""
    # The compiler reads this when it is asked to compile. It is not loaded for our sake, since that takes seconds.
    os.environ["TORCHDYNAMO_DISABLE"] = "1"
    if (config := sys.modules.get("torch._dynamo.config")) is not None:
        put(config, "disable", True)


def replace_modules() -> None:
    """Modules that move, and `parameter.data = ...` from one device to another."""
    original: Any = torch.nn.Module._apply

    @functools.wraps(original)
    def apply(self: Any, fn: Any, recurse: bool = True) -> Any:
        # PyTorch's own would put new Parameter objects into a module that changes the device, and an optimizer made
        # before would train the old ones. On CUDA they stay the same objects, and so they do here.
        known: dict[int, torch.Tensor] = {}

        def moved(tensor: torch.Tensor) -> Any:
            with torch.no_grad():
                return known.pop(id(tensor)) if id(tensor) in known else fn(tensor)

        params = [param for param in self._parameters.values() if param is not None]
        # The first parameter tells where all go. It is moved once: moving it again for real would be counted twice.
        first = params[0] if params else None
        if first is not None:
            known[id(first)] = moved(first)
        if first is None or SimTensor not in (type(first), type(known[id(first)])):
            # No device of ours has to do with it: PyTorch's way, from the beginning.
            known.clear()
            return original(self, fn, recurse)
        for child in self.children() if recurse else ():
            child._apply(fn)
        for param in params:
            _move(param, moved)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def data(self: torch.Tensor) -> torch.Tensor:
        return TensorBase.data.__get__(self)  # type: ignore[attr-defined, no-any-return]

    put(torch.nn.Module, "_apply", apply)
    put(torch.Tensor, "data", property(data, set_data))


def _move(param: torch.Tensor, moved: Any) -> None:
    if torch.nn.parameter.is_lazy(param):
        raise NotImplementedError(_LAZY)
    # The gradient is taken along, as PyTorch does; it is set again at last, when the parameter has its new place.
    new = moved(param)
    grad = None if param.grad is None else moved(param.grad).requires_grad_(param.grad.requires_grad)
    if new is not param:
        become(param, torch.nn.Parameter(new, param.requires_grad))
    param.grad = grad
