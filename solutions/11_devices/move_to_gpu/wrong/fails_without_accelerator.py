"""Without an accelerator `current_accelerator()` is None, or one that is not here; ask `is_available()` first.

caught by: best
keeps: to_device
"""

import torch


def best_device() -> torch.device:
    return torch.accelerator.current_accelerator()
