"""You move tensors that are on the CPU only; those on an accelerator may be asked for elsewhere, or back.

caught by: device_given
keeps: best_device
"""

from typing import Any

import torch


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    if device is None:
        device = best_device()
    return {
        key: value.to(device) if isinstance(value, torch.Tensor) and value.device.type == "cpu" else value
        for key, value in batch.items()
    }
