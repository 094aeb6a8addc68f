"""You copy tensors that are there already, as happens where devices are compared: without an index a device never
equals the one that a tensor tells.

caught by: copies
keeps: best_device
"""

from typing import Any

import torch


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    if device is None:
        device = best_device()
    target = torch.device(device)
    return {
        key: torch.empty_like(value, device=target).copy_(value)
        if isinstance(value, torch.Tensor) and value.device != target
        else value
        for key, value in batch.items()
    }
