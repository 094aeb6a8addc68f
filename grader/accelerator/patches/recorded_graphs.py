"""Graphs that PyTorch records name the device as the program does, and run when they are called."""

from __future__ import annotations

import functools
import re
import types
from typing import Any

import torch

from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import INNER, Machine

_INNER_NAME = re.compile(rf"\b{INNER}(?=:\d)")


def install(machine: Machine) -> None:
    """Make recorded graphs and dispatch modes name the device as programs do: `cuda:0`.

    C++ has the inner name `sim:0`. The graphs are those of `torch.fx` and TorchScript. Operators of `torch.ops` accept
    the public name, too.
    """
    tracer: Any = torch.fx.proxy.TracerBase
    create_arg = tracer.create_arg

    def create_public_arg(self: Any, a: Any) -> Any:
        # The operators that `make_fx` and `symbolic_trace` record were given the inner name by then.
        return create_arg(self, machine.public_device(a) if isinstance(a, torch.device) and a.index is not None else a)

    put(tracer, "create_arg", create_public_arg)
    for kind in (torch._ops.OpOverload, torch._ops.OpOverloadPacket):
        put(kind, "__call__", _wrap_operator_call(machine, kind.__call__))
    _patch_dispatch_modes(machine)
    for shown in (torch._C.Graph, torch._C.Node, torch._C.Value):
        for name in ("__str__", "__repr__"):
            put(shown, name, _wrap_text(machine, getattr(shown, name)))
    for script in (torch._C.ScriptFunction, torch._C.ScriptMethod):
        original: Any = vars(script)["code"]
        put(script, "code", property(_wrap_text(machine, original.__get__)))


def _wrap_operator_call(machine: Machine, original: Any) -> Any:
    """Return a wrapper of an operator's `__call__` that accepts the device's public name.

    For `torch.ops.aten.zeros([2], device="cuda:0")`, it passes `sim:0`, the only name that C++ knows.
    """

    @functools.wraps(original)
    def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("device") is not None:
            kwargs["device"] = machine.to_inner_device(kwargs["device"])
        return original(self, *args, **kwargs)

    return call


def _patch_dispatch_modes(machine: Machine) -> None:
    """Pass the public name of the device to the dispatch modes that a program defines.

    Without this patch, `__torch_dispatch__` of such a mode receives the inner name.
    """
    mode: Any = torch.utils._python_dispatch.TorchDispatchMode
    original: Any = vars(mode).get("__init_subclass__")

    def init_subclass(cls: Any, /, **kwargs: Any) -> None:
        if original is None:  # in an older PyTorch
            super(mode, cls).__init_subclass__(**kwargs)
        else:
            original.__func__(cls, **kwargs)
        own = vars(cls).get("__torch_dispatch__")
        if isinstance(own, types.FunctionType) and not cls.__module__.startswith("torch."):
            cls.__torch_dispatch__ = _wrap_dispatch(machine, own)

    put(mode, "__init_subclass__", classmethod(init_subclass))


def _wrap_dispatch(machine: Machine, original: Any) -> Any:
    @functools.wraps(original)
    def dispatch(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = kwargs.get("device") if kwargs else None
        if isinstance(given, torch.device) and given.index is not None:
            kwargs = {**kwargs, "device": machine.public_device(given)}
        return original(self, func, types, args, kwargs)

    return dispatch


def _wrap_text(machine: Machine, original: Any) -> Any:
    def text(self: Any) -> str:
        return _INNER_NAME.sub(machine.kind, original(self))

    return text
