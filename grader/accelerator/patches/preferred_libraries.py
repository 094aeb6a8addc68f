"""`torch.backends.cuda.preferred_blas_library` and `preferred_linalg_library` keep what a program prefers."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine

_OF_CUDA = {"blas": ("Default", "Cublas", "Cublaslt"), "linalg": ("Default", "Cusolver", "Magma")}
"""The libraries that a PyTorch for CUDA has. One for the CPU refuses to prefer them; others it refuses rightly."""


def install(machine: Machine) -> None:
    """Let a program prefer a library for matrix products or for linear algebra.

    After `torch.backends.cuda.preferred_blas_library("cublaslt")`, the getter returns this library. The preference
    changes no result. The C++ functions that set and return it are replaced.
    """
    del machine
    core: Any = torch._C
    preferred: dict[str, Any] = {}

    def replace(kind: str) -> None:
        """Replace the setter and the getter of the preferred library for "blas" or "linalg"."""
        setter, getter = f"_set_{kind}_preferred_backend", f"_get_{kind}_preferred_backend"
        original_set, original_get = getattr(core, setter), getattr(core, getter)

        def set_library(library: Any) -> None:
            if library.name not in _OF_CUDA[kind]:
                original_set(library)
            preferred[kind] = library

        def get_library() -> Any:
            return preferred.get(kind) or original_get()

        put(core, setter, set_library)
        put(core, getter, get_library)

    for kind in _OF_CUDA:
        replace(kind)
