"""You fetch each tensor to the CPU (`cpu`) before you move it; from one accelerator to another that makes two copies.

caught by: copies
keeps: best_device
"""

from typing import Any

import torch


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    if device is None:
        device = best_device()
    return {key: value.cpu().to(device) if isinstance(value, torch.Tensor) else value for key, value in batch.items()}
