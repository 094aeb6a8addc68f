"""Tensors of an accelerator. On the wire they are ordinary memory; where they lie is a fact that a worker states.

A worker whose student code sees an accelerator, simulated or not, says here how its tensors are read and made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Accelerator:
    """How tensors of the accelerator of this process are read and made.

    Attributes:
        look: gives the CPU tensor over such a tensor's memory, and its device; None for any other tensor.
        place: puts a CPU tensor on a device, over the same memory or memory that mirrors it.
        begin: called before each request.
    """

    look: Callable[[torch.Tensor], tuple[torch.Tensor, str] | None]
    place: Callable[[torch.Tensor, str], torch.Tensor]
    begin: Callable[[], None] = lambda: None


here: list[Accelerator] = []
"""The accelerator of this process; most have none. A process has at most one kind, for good."""


def use(accelerator: Accelerator) -> None:
    """Set the accelerator of this process."""
    here[:] = [accelerator]


def look(tensor: torch.Tensor) -> tuple[torch.Tensor, str] | None:
    """The CPU tensor over the memory of a tensor of the accelerator, and its device; None for any other tensor."""
    return here[0].look(tensor) if here else None
