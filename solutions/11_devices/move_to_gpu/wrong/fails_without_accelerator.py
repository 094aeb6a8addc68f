"""Without an accelerator `current_accelerator()` is None, or one that is not here; ask `is_available()` first.

caught by: built_for_one
"""

from typing import Any

import torch


def best_device() -> torch.device:
    return torch.accelerator.current_accelerator()


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    if device is None:
        device = best_device()
    return {key: value.to(device) if isinstance(value, torch.Tensor) else value for key, value in batch.items()}
