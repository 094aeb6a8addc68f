"""Asks once and falls back with `or`; fills the new dict in a loop."""

from typing import Any

import torch


def best_device() -> torch.device:
    return torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    result = dict(batch)
    for key, value in batch.items():
        if isinstance(value, torch.Tensor):
            result[key] = value.to(device=device or best_device(), non_blocking=True)
    return result
