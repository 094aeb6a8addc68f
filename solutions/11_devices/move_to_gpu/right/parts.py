"""cuda: no word of it below; a docstring may talk of what the code does not name."""

from typing import Any

import torch


def _default() -> torch.device:
    """The accelerator, be it cuda, mps or xpu."""
    if not torch.accelerator.is_available():
        return torch.device("cpu")
    return torch.device(torch.accelerator.current_accelerator().type, torch.accelerator.current_device_index())


def best_device() -> torch.device:
    return _default()


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    target = _default() if device is None else torch.device(device)
    tensors = {key: value.to(target) for key, value in batch.items() if isinstance(value, torch.Tensor)}
    return {**batch, **tensors}
