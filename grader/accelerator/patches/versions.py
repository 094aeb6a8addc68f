"""The versions of CUDA and cuDNN, and CUDA's runtime."""

from __future__ import annotations

import torch

from grader.accelerator.cuda.cudart import Runtime
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine

_CUDA, _CUDNN = "12.8", 91002
"""The versions that it says it has."""


def install(machine: Machine) -> None:
    """Replace the functions that report CUDA's and cuDNN's presence and versions, and the runtime of CUDA."""

    def available() -> bool:
        return True

    def version() -> int:
        return _CUDNN

    def architectures() -> list[str]:
        return ["sm_{}{}".format(*machine.spec.capability)]

    put(torch.cuda, "_cudart", Runtime())
    put(torch.cuda, "get_arch_list", architectures)
    put(torch.version, "cuda", _CUDA)
    put(torch.backends.cuda, "is_built", available)
    put(torch.backends.cudnn, "is_available", available)
    put(torch.backends.cudnn, "version", version)
