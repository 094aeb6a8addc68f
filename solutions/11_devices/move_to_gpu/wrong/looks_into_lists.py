"""You look into lists as well; the model's code may count on the list that it was given.

caught by: passed_on
keeps: best_device
"""

from typing import Any

import torch


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    if device is None:
        device = best_device()

    def moved(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.to(device)
        return [moved(item) for item in value] if isinstance(value, list) else value

    return {key: moved(value) for key, value in batch.items()}
