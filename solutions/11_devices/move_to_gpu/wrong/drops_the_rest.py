"""You keep the tensors only; file names and numbers belong to the batch too.

caught by: other_values
keeps: best_device
"""

from typing import Any

import torch


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    if device is None:
        device = best_device()
    return {key: value.to(device) for key, value in batch.items() if isinstance(value, torch.Tensor)}
