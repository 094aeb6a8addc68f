"""You take "cuda" without asking whether it is there; without such a GPU the first tensor fails.

caught by: kind
breaks: C1, C7
keeps: to_device
"""

import torch


def best_device() -> torch.device:
    return torch.device("cuda")
