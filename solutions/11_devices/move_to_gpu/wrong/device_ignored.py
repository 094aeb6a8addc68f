"""You always move to the best device and ignore the one that is given.

caught by: device_given
keeps: best_device
"""

from typing import Any

import torch


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    target = best_device()
    return {key: value.to(target) if isinstance(value, torch.Tensor) else value for key, value in batch.items()}
