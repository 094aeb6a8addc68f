"""Formulas of autograd and rules of autocast that are registered for CUDA hold for the device."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch._C import DispatchKey, DispatchKeySet
from torch._library import simple_registry

from grader.accelerator.core.tensor import PlainSimTensor, SimParameter
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine

_AUTOCAST = DispatchKeySet(DispatchKey.AutocastPrivateUse1)  # type: ignore[attr-defined]


def install(machine: Machine) -> None:
    """Register for the device what a program registers for autograd or autocast on CUDA.

    `Library.impl` is patched for that: a function for the key "AutogradCUDA" or "AutocastCUDA" also gets the key of the
    device. `find_torch_dispatch_rule`, which C++ calls for each operator, finds no rule for tensors of the device, as
    tensors on CUDA cannot have such rules.
    """
    del machine
    original: Any = torch.library.Library.impl

    @functools.wraps(original)
    def impl(self: Any, op_name: Any, fn: Any, dispatch_key: str = "", **options: Any) -> None:
        original(self, op_name, fn, dispatch_key, **options)
        key = dispatch_key or self.dispatch_key
        if key == "AutogradCUDA":
            original(self, op_name, fn, "AutogradPrivateUse1", **options)
        elif key == "AutocastCUDA":
            original(self, op_name, _without_autocast(fn), "AutocastPrivateUse1", **options)

    put(torch.library.Library, "impl", impl)
    registry: Any = simple_registry
    put(registry, "find_torch_dispatch_rule", _find_fewer_rules(registry.find_torch_dispatch_rule))


def _find_fewer_rules(original: Any) -> Any:
    """Return a function that finds what `register_torch_dispatch` registered for a class.

    For tensors of the device it looks nothing up: C++ calls it at each operator, and tensors on CUDA have no such rule.
    """

    @functools.wraps(original)
    def find(op: Any, torch_dispatch_class: type) -> Any:
        if torch_dispatch_class is PlainSimTensor or torch_dispatch_class is SimParameter:
            return None
        return original(op, torch_dispatch_class)

    return find


def _without_autocast(function: Any) -> Any:
    # The rule switches CUDA's key off before it calls the operator again.
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(_AUTOCAST):
            return function(*args, **kwargs)

    return call
