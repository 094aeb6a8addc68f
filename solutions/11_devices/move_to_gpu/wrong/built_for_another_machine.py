"""`current_accelerator()` tells what PyTorch was built for, even if it is not here; ask `is_available()` first.

caught by: best
keeps: to_device
"""

import torch


def best_device() -> torch.device:
    return torch.accelerator.current_accelerator() or torch.device("cpu")
