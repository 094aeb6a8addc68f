"""You call `.cuda()`, which knows one kind of accelerator only, ignores `device` and fails without such a GPU.

caught by: small_batch
breaks: C2, C3, C4, C6, C7
keeps: best_device
"""

from typing import Any

import torch


def to_device(batch: dict[str, Any], device: str | torch.device | None = None) -> dict[str, Any]:
    return {key: value.cuda() if isinstance(value, torch.Tensor) else value for key, value in batch.items()}
