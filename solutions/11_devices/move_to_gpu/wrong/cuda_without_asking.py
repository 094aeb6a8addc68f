"""You take "cuda" without asking whether it is there; without such a GPU the first tensor fails.

caught by: no_accelerator
"""

from typing import Any

import torch


def best_device() -> torch.device:
    return torch.device("cuda")


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    if device is None:
        device = best_device()
    return {key: value.to(device) if isinstance(value, torch.Tensor) else value for key, value in batch.items()}
