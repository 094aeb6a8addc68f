"""You ask for CUDA by name: a machine with another kind of accelerator would be left on its CPU.

caught by: names_no_kind
keeps: to_device
"""

import torch


def best_device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
