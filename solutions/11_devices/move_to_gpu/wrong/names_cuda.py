"""You ask for CUDA by name: a machine with another kind of accelerator would be left on its CPU.

caught by: names_no_kind
"""

from typing import Any

import torch


def best_device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    if device is None:
        device = best_device()
    return {key: value.to(device) if isinstance(value, torch.Tensor) else value for key, value in batch.items()}
