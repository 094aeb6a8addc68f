"""The versions of CUDA and cuDNN, and CUDA's runtime."""

from __future__ import annotations

import re
from typing import Any

import torch

from grader.accelerator.cuda.cudart import CudaRuntime
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine

_CUDA, _CUDNN = "12.8", 91002
"""The versions that a build of PyTorch for the CPU says it has; a build for CUDA has its own."""


def install(machine: Machine) -> None:
    """Make PyTorch report that CUDA and cuDNN are there, with versions.

    In a build for the CPU, `torch.version.cuda` becomes "12.8", and `torch.backends.cudnn.version()` returns 91002. The
    runtime of CUDA, which `torch.cuda.cudart` returns, is replaced, too.
    """

    def available() -> bool:
        return True

    own_version: Any = torch.backends.cudnn.version

    def version() -> int:
        return own_version() or _CUDNN

    major, minor = machine.spec.capability
    # A build for the CPU lacks it, and what stands in its place refuses.
    of_build = (torch._C._cuda_getArchFlags() or "").split() if torch.version.cuda else []

    def architectures() -> list[str]:
        if any(_is_binary_compatible(name, major, minor) for name in of_build):
            return [*of_build]
        return [f"sm_{major}{minor}"]

    def compiled_version() -> int:
        first, second = _CUDA.split(".")
        return 1000 * int(first) + 10 * int(second)

    put(torch.cuda, "_cudart", CudaRuntime())
    put(torch.cuda, "get_arch_list", architectures)
    put(torch.version, "cuda", torch.version.cuda or _CUDA)
    if not hasattr(torch._C, "_cuda_getCompiledVersion"):
        put(torch._C, "_cuda_getCompiledVersion", compiled_version)
    put(torch.backends.cuda, "is_built", available)
    put(torch.backends.cudnn, "is_available", available)
    put(torch.backends.cudnn, "version", version)


def _is_binary_compatible(architecture: str, major: int, minor: int) -> bool:
    """Return whether a GPU runs kernels that are compiled for an architecture.

    Kernels for "sm_80" run on a GPU of capability 8.6, but not on one of 9.0: the major numbers must be equal, and the
    minor number of the architecture must not exceed that of the GPU.

    Args:
        architecture: the architecture, such as "sm_80".
        major: the major number of the GPU's capability.
        minor: the minor number of the GPU's capability.
    """
    found = re.fullmatch(r"sm_(\d+)(\d)", architecture)
    return found is not None and int(found[1]) == major and int(found[2]) <= minor
