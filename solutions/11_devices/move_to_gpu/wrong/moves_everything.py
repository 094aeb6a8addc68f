"""You call `.to` on every value; a list of file names has no such method, and the whole batch fails.

caught by: other_values
keeps: best_device
"""

from typing import Any

import torch


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    if device is None:
        device = best_device()
    return {key: value.to(device) for key, value in batch.items()}
