"""Your total has a dim of size 1. A total is one number, 0 dims: leave keepdim and the slice out.

caught by: form
keeps: loop_sum, loop_error
"""

import torch


def accurate_sum(x):
    return x.flatten().sum(0, keepdim=True, dtype=torch.float64).to(x.dtype)
