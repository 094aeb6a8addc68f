"""You move under `no_grad`, so the copies have no history and no gradient finds its way back.

caught by: contents
keeps: best_device
"""

from typing import Any

import torch


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    if device is None:
        device = best_device()
    with torch.no_grad():
        return {key: value.to(device) if isinstance(value, torch.Tensor) else value for key, value in batch.items()}
