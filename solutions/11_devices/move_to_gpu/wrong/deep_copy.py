"""You copy the whole batch first (`deepcopy`): a new dict is enough, `.to(device)` leaves the tensors in the old one
alone.

caught by: copies
breaks: C5, C6
keeps: best_device
"""

import copy
from typing import Any

import torch


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    if device is None:
        device = best_device()
    result = copy.deepcopy(batch)
    for key, value in result.items():
        if isinstance(value, torch.Tensor):
            result[key] = value.to(device)
    return result
