"""You make two copies of each tensor: `.to(device)` leaves the original alone, so no `clone` is needed.

caught by: copies
keeps: best_device
"""

from typing import Any

import torch


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    if device is None:
        device = best_device()
    result = {}
    for key, value in batch.items():
        result[key] = value.clone().to(device) if isinstance(value, torch.Tensor) else value
    return result
