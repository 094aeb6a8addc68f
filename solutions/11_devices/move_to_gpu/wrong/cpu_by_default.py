"""Without a device you take the CPU; take `best_device()` instead.

caught by: device_left_out
keeps: best_device
"""

from typing import Any

import torch


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    target = device or "cpu"
    return {key: value.to(target) if isinstance(value, torch.Tensor) else value for key, value in batch.items()}
