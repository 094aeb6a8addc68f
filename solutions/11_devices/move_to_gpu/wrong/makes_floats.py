"""You make floats of all tensors on the way; labels are integers, and must stay so.

caught by: contents
keeps: best_device
"""

from typing import Any

import torch


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    if device is None:
        device = best_device()
    return {
        key: value.to(device, torch.float32) if isinstance(value, torch.Tensor) else value
        for key, value in batch.items()
    }
