"""Which accelerator student code sees: none, a simulated one, or CUDA. Decided before the submission is loaded."""

from __future__ import annotations

import torch

from grader import accelerator
from grader.sandbox import slow_imports
from grader.wire.facts import Accelerator, use_accelerator
from grader.worker import cuda


def preload() -> None:
    """Import what a simulated accelerator needs, in a process that forks."""
    accelerator.preload()
    slow_imports.leave_slow_imports_out()


def show(mode: str) -> None:
    """Make this process see what a check asked for, for good.

    Args:
        mode: "sim" for a simulated accelerator of two devices, "cuda" for CUDA as it is here, "none" for a machine
            without one.

    Raises:
        ValueError: an unknown mode.
    """
    if mode == "sim":
        accelerator.enable("sim")
        use_accelerator(Accelerator(_look, _place))
    elif mode == "cuda":
        mirrors = cuda.Mirrors(cuda.is_plain)
        use_accelerator(Accelerator(mirrors.look, mirrors.place, mirrors.begin))
    elif mode != "none":
        raise ValueError(f"there is no device mode {mode!r}")
    # Where PyTorch finds none anyway, there is nothing to hide.
    elif torch.accelerator.is_available():
        accelerator.enable("none")


def _look(tensor: torch.Tensor) -> tuple[torch.Tensor, str] | None:
    if not accelerator.is_simulated(tensor):
        return None
    described = accelerator.describe(tensor)
    return described.inner, described.device


def _place(tensor: torch.Tensor, device: str) -> torch.Tensor:
    if device == "cpu":
        return tensor
    return accelerator.to_device(tensor, int(device.partition(":")[2] or 0))
