"""You return a new tensor with the sine; t has its old numbers.

caught by: windows[sine_]
keeps: axpy_, reset_
"""

import torch


def sine_(t):
    return torch.sin(t)
