"""You compare the type itself; a parameter is a tensor as well, of a derived class, and stays behind.

caught by: device_given
keeps: best_device
"""

from typing import Any

import torch


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    if device is None:
        device = best_device()
    return {key: value.to(device) if type(value) is torch.Tensor else value for key, value in batch.items()}
