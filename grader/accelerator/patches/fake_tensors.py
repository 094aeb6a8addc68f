"""Fake tensors have the device's inner name for C++, and its public name for programs."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch._subclasses import fake_tensor

from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import INNER, Machine

_DEVICE: Any = torch.ops.prim.device.default


def install(machine: Machine) -> None:
    """Let backward run over fake tensors, as `opcheck` and `make_fx` do.

    Autograd in C++ asks the device of each tensor for its stream. For CUDA, a build of PyTorch without CUDA ends the
    process then, and a build for CUDA that finds no GPU raises an internal error. So C++ gets the inner name of the
    device. A fake tensor that C++ makes with this name gets the public one.
    """
    kind: Any = fake_tensor.FakeTensor

    def for_cpp(device: Any) -> Any:
        if device.type != machine.kind:
            return device
        return torch.device(INNER, machine.current if device.index is None else device.index)

    dispatch = kind.__dict__["__torch_dispatch__"].__func__

    @functools.wraps(dispatch)
    def torch_dispatch(cls: Any, func: Any, *args: Any, **kwargs: Any) -> Any:
        made = dispatch(cls, func, *args, **kwargs)
        return for_cpp(made) if func is _DEVICE else made

    put(kind, "__torch_dispatch__", classmethod(torch_dispatch))
    handlers: Any = fake_tensor._DISPATCH_META_HANDLERS
    handler = handlers[_DEVICE]
    handlers[_DEVICE] = lambda args: for_cpp(handler(args))
    new: Any = kind.__dict__["__new__"].__func__

    def for_programs(value: Any) -> Any:
        return machine.public_device(value) if isinstance(value, torch.device) else value

    @functools.wraps(new)
    def make(cls: Any, *args: Any, **kwargs: Any) -> Any:
        return new(cls, *map(for_programs, args), **{name: for_programs(value) for name, value in kwargs.items()})

    put(kind, "__new__", staticmethod(make))
