"""Kernels that a program registers in Python, for operators of its own or of PyTorch."""

from __future__ import annotations

import sys
from typing import Any

from torch import library
from torch._C import DispatchKey, DispatchKeySet

from grader.accelerator.schema.facts import OperatorFacts

REGISTERED: set[str] = library._impls
"""The kernels that were registered in Python, each as namespace/operator/dispatch key."""

_PYTORCH = {"aten", "prims", "prim"}
"""Namespaces whose operators run on the tensors inside."""


def dispatch_key_of(facts: OperatorFacts, func: Any, kind: str) -> DispatchKeySet | None:
    """Return the dispatch key of a kernel that the program registered for an operator.

    In mode cuda, after `library.impl("scale", kernel, "CUDA")`, it is `DispatchKeySet(DispatchKey.CUDA)`. The result is
    None if the program registered no kernel for the operator.

    Args:
        facts: the facts of the operator.
        func: the operator.
        kind: the kind of the simulated device: "cuda" or "sim".

    Raises:
        NotImplementedError: the program registered a kernel for the CPU alone; the message is PyTorch's.
    """
    device = "CUDA" if kind == "cuda" else "PrivateUse1"
    # Under the other key PyTorch's own operators have kernels of ours.
    ours = kind != "cuda" and facts.namespace == "aten"
    if not ours and facts.kernels[device] in REGISTERED and not _is_registered_by_pytorch(facts.path, device):
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


def _is_registered_by_pytorch(path: str, device: str) -> bool:
    """Return True if PyTorch, not the program, registered an operator's kernel in Python.

    Since version 2.14, builds of PyTorch for CUDA register some kernels in Python.

    Args:
        path: the operator, such as "aten/add.Tensor".
        device: the dispatch key of the device: "CUDA" or "PrivateUse1".
    """
    registry = sys.modules.get("torch._native.registry")
    _, _, operator = path.partition("/")
    return (operator, device) in getattr(registry, "_aten_override_libs", ())
