"""You copy a tensor even if it is on the device already; leave out `copy=True`.

caught by: copies
keeps: best_device
"""

from typing import Any

import torch


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    if device is None:
        device = best_device()
    return {
        key: value.to(device, copy=True) if isinstance(value, torch.Tensor) else value for key, value in batch.items()
    }
