"""Looks at where each tensor is, and copies into fresh memory if it must."""

from typing import Any

import torch


def best_device() -> torch.device:
    if torch.accelerator.device_count() > 0:
        kind = torch.accelerator.current_accelerator()
        return torch.device(kind.type, torch.accelerator.current_device_index())
    return torch.device("cpu")


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    if device is None:
        device = best_device()
    target = torch.empty(0, device=device).device  # with its index, if it has one
    return {key: _moved(value, target) for key, value in batch.items()}


def _moved(value: Any, target: torch.device) -> Any:
    if not torch.is_tensor(value) or value.device == target:
        return value
    return torch.empty_like(value, device=target).copy_(value)
