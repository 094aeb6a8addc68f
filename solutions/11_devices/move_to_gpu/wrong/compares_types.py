"""You compare the types of the devices; the first and the second accelerator have the same type.

caught by: device_given
keeps: best_device
"""

from typing import Any

import torch


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    if device is None:
        device = best_device()
    target = torch.device(device)
    return {
        key: value.to(target) if isinstance(value, torch.Tensor) and value.device.type != target.type else value
        for key, value in batch.items()
    }
