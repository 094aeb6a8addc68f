"""Pinned host memory: ordinary memory with a mark on its storage, which makes its transfers faster."""

from __future__ import annotations

import torch

from grader.accelerator.refusals import refusal
from grader.accelerator.sim.machine import the_machine


def is_pinned(tensor: torch.Tensor) -> bool:
    """Return whether a CPU tensor is marked as pinned."""
    if tensor.layout is not torch.strided:
        return False
    return getattr(tensor.untyped_storage(), "_pinned", False)


def pin_storage(tensor: torch.Tensor) -> torch.Tensor:
    """Mark the storage of a CPU tensor as pinned, and return the tensor."""
    # Python keeps this object as long as the memory lives, so every tensor over the memory finds the mark.
    mark_pinned(tensor.untyped_storage())
    return tensor


def mark_pinned(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    """Mark a CPU storage as pinned, and return it."""
    the_machine().asked_for = True
    storage._pinned = True  # type: ignore[attr-defined]
    return storage


def pinned_copy(tensor: torch.Tensor) -> torch.Tensor:
    """Return the tensor itself if it is pinned, else a pinned copy, as `Tensor.pin_memory` does."""
    if tensor.layout is not torch.strided:
        raise refusal(f"pin_memory of a {tensor.layout} tensor is not supported with a simulated device")
    return tensor if is_pinned(tensor) else pin_storage(tensor.clone())
