"""You subtract in the dtype of x, which rounds once more. Both numbers belong into float64 before they meet.

caught by: error_at_random
keeps: loop_sum, accurate_sum
"""

import torch


def loop_error(x):
    return (loop_sum(x) - x.sum(dtype=torch.float64).to(x.dtype)).abs().item()
