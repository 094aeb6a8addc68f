"""You return new zeros; the caller's t has its old numbers.

caught by: windows[reset_]
keeps: axpy_, sine_
"""

import torch


def reset_(t):
    return torch.zeros_like(t)
