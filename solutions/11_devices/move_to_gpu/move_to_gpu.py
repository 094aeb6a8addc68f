"""The reference."""

from typing import Any

import torch


def best_device() -> torch.device:
    if torch.accelerator.is_available():
        device = torch.accelerator.current_accelerator()
        assert device is not None
        return device
    return torch.device("cpu")


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    target = best_device() if device is None else torch.device(device)
    return {key: value.to(target) if isinstance(value, torch.Tensor) else value for key, value in batch.items()}
