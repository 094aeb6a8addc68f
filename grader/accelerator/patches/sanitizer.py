"""PyTorch's sanitizer of streams."""

from __future__ import annotations

import importlib
from typing import Any

from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Make PyTorch's CUDA sanitizer use the race detector of the simulated device.

    Once the program switches the sanitizer on, a race between streams raises an error.
    """
    sanitizer: Any = importlib.import_module("torch.cuda._sanitizer")

    def enable_cuda_sanitizer() -> None:
        machine.races.strict = True

    # The variable switched on PyTorch's own, which waits for calls of CUDA's driver.
    if sanitizer.cuda_sanitizer.enabled:
        sanitizer.cuda_sanitizer.disable()
        enable_cuda_sanitizer()
    put(sanitizer, "enable_cuda_sanitizer", enable_cuda_sanitizer)
