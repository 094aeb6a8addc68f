"""Operators that the program registers in Python, with kernels of its own for CUDA."""

from __future__ import annotations

import functools
import sys
from typing import Any

import torch
from torch._C import DispatchKey, DispatchKeySet

from grader.accelerator.facts import Facts
from grader.accelerator.machine import Machine
from grader.accelerator.replacing import put

_REGISTERED: set[str] = torch.library._impls
"""What Python code registered, as namespace/operator/key."""

_PYTORCH = {"aten", "prims", "prim"}
"""Namespaces whose operators run on the tensors inside."""

_AUTOCAST = DispatchKeySet(DispatchKey.AutocastPrivateUse1)  # type: ignore[attr-defined]


def key_of(facts: Facts, func: Any, kind: str) -> DispatchKeySet | None:
    """The key of the kernel that the program has for tensors of the device; None where it registered nothing.

    Raises:
        NotImplementedError: it registered a kernel for the CPU alone, with PyTorch's words.
    """
    device = "CUDA" if kind == "cuda" else "PrivateUse1"
    # Under the other key PyTorch's own operators have kernels of ours.
    ours = kind != "cuda" and func.namespace == "aten"
    if not ours and f"{facts.path}/{device}" in _REGISTERED and not _is_pytorchs(facts.path, device):
        return DispatchKeySet(getattr(DispatchKey, device))
    if func.namespace in _PYTORCH:
        return None
    if f"{facts.path}/CompositeExplicitAutograd" in _REGISTERED:
        return DispatchKeySet(DispatchKey.CompositeExplicitAutograd)
    if f"{facts.path}/CPU" in _REGISTERED:
        raise NotImplementedError(
            f"Could not run '{func.name()}' with arguments from the '{device}' backend. This could be because the "
            "operator doesn't exist for this backend, or was omitted during the selective/custom build process (if "
            "using custom build)."
        )
    return None


def _is_pytorchs(path: str, device: str) -> bool:
    """Whether PyTorch itself registered it: since 2.14, builds for CUDA have kernels in Python, for a GPU alone."""
    registry = sys.modules.get("torch._native.registry")
    _, _, operator = path.partition("/")
    return (operator, device) in getattr(registry, "_aten_override_libs", ())


def replace_registration(machine: Machine) -> None:
    """Let formulas of autograd and rules of autocast that are registered for CUDA hold for the device."""
    if machine.kind != "cuda":
        return
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
