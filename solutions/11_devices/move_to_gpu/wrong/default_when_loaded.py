"""Your default stands in the signature; whoever passes None on gets no device at all, so test for None inside.

caught by: device_left_out
keeps: best_device
"""

from typing import Any

import torch


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    return {key: value.to(device) if isinstance(value, torch.Tensor) else value for key, value in batch.items()}
