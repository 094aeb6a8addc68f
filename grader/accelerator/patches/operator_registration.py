"""Formulas of autograd and rules of autocast that are registered for CUDA hold for the device."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch._C import DispatchKey, DispatchKeySet

from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine

_AUTOCAST = DispatchKeySet(DispatchKey.AutocastPrivateUse1)  # type: ignore[attr-defined]


def install(machine: Machine) -> None:
    """Make a program's formulas of autograd and autocast for CUDA hold for the device.

    `Library.impl` is patched: what it registers for "AutogradCUDA" or "AutocastCUDA" is registered for the simulated
    device, too.
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


def _without_autocast(function: Any) -> Any:
    # The rule switches CUDA's key off before it calls the operator again.
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(_AUTOCAST):
            return function(*args, **kwargs)

    return call
