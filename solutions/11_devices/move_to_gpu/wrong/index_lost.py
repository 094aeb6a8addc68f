"""You keep the type of the device only, so its index is lost and all tensors go to the first accelerator.

caught by: device_given
keeps: best_device
"""

from typing import Any

import torch


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    if device is None:
        device = best_device()
    target = torch.device(device).type
    return {key: value.to(target) if isinstance(value, torch.Tensor) else value for key, value in batch.items()}
