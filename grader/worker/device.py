"""Which accelerator student code sees: none at all, or a simulated one. Decided before the submission is loaded."""

from __future__ import annotations

import torch

from grader import accelerator
from grader.wire import devices


def preload() -> None:
    """Import what a simulated accelerator needs, in a process that forks."""
    accelerator.preload()


def show(mode: str) -> None:
    """Make this process see what a check asked for, for good.

    Args:
        mode: "sim" for a simulated accelerator of two devices, "none" for a machine without one.

    Raises:
        ValueError: an unknown mode.
    """
    if mode == "sim":
        accelerator.enable("sim")
        devices.simulate(_look, _place)
    elif mode != "none":
        raise ValueError(f"there is no device mode {mode!r}")
    elif torch.accelerator.is_available():
        accelerator.enable("none")


def _look(tensor: torch.Tensor) -> tuple[torch.Tensor, str] | None:
    if not accelerator.is_simulated(tensor):
        return None
    described = accelerator.describe(tensor)
    return described.inner, described.device


def _place(tensor: torch.Tensor, device: str) -> torch.Tensor:
    return accelerator.to_device(tensor, int(device.partition(":")[2] or 0))
