"""Operators for which the program registered kernels of its own in Python."""

from __future__ import annotations

import sys
from typing import Any

from torch import library
from torch._C import DispatchKey, DispatchKeySet

from grader.accelerator.schema.facts import Facts

REGISTERED: set[str] = library._impls
"""What Python code registered, as namespace/operator/key."""

_PYTORCH = {"aten", "prims", "prim"}
"""Namespaces whose operators run on the tensors inside."""


def key_of(facts: Facts, func: Any, kind: str) -> DispatchKeySet | None:
    """Return the key of the kernel that the program has for tensors of the device; None where it registered nothing.

    Args:
        facts: of the operator.
        func: the operator.
        kind: of the simulated device: "cuda" or "sim".

    Raises:
        NotImplementedError: it registered a kernel for the CPU alone, with PyTorch's words.
    """
    device = "CUDA" if kind == "cuda" else "PrivateUse1"
    # Under the other key PyTorch's own operators have kernels of ours.
    ours = kind != "cuda" and facts.namespace == "aten"
    if not ours and facts.kernels[device] in REGISTERED and not _is_pytorchs(facts.path, device):
        return DispatchKeySet(getattr(DispatchKey, device))
    if facts.namespace in _PYTORCH:
        return None
    if facts.kernels["CompositeExplicitAutograd"] in REGISTERED:
        return DispatchKeySet(DispatchKey.CompositeExplicitAutograd)
    if facts.kernels["CPU"] in REGISTERED:
        raise NotImplementedError(
            f"Could not run '{func.name()}' with arguments from the '{device}' backend. This could be because the "
            "operator doesn't exist for this backend, or was omitted during the selective/custom build process (if "
            "using custom build)."
        )
    return None


def _is_pytorchs(path: str, device: str) -> bool:
    """Return whether PyTorch itself registered it: since 2.14, CUDA's builds have kernels in Python for a GPU alone."""
    registry = sys.modules.get("torch._native.registry")
    _, _, operator = path.partition("/")
    return (operator, device) in getattr(registry, "_aten_override_libs", ())
