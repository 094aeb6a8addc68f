"""You make a tensor out of everything; what is not a tensor is passed on as it is.

caught by: passed_on
keeps: best_device
"""

from typing import Any

import torch


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    if device is None:
        device = best_device()
    result = {}
    for key, value in batch.items():
        try:
            result[key] = torch.as_tensor(value, device=device)
        except (TypeError, ValueError, RuntimeError):
            result[key] = value
    return result
