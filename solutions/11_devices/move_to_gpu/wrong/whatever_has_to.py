"""You move any object that has a method `to`; a record of someone else's may have one, too. Ask for tensors with
`isinstance`.

caught by: passed_on
keeps: best_device
"""

from typing import Any

import torch


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    if device is None:
        device = best_device()
    return {key: value.to(device) if hasattr(value, "to") else value for key, value in batch.items()}
