"""You call `.cuda()` where the device is a GPU: `.to(device)` does the same, and names no kind.

caught by: names_no_kind
keeps: best_device
"""

from typing import Any

import torch


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    if device is None:
        device = best_device()
    target = torch.device(device)
    return {
        key: (value.cuda(target) if target.type == "cuda" else value.to(target)) if torch.is_tensor(value) else value
        for key, value in batch.items()
    }
