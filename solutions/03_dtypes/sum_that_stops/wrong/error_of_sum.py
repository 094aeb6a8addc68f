"""You measure how far sum is off. Asked is the loop: loop_sum(x) against the sum in float64.

caught by: error
keeps: loop_sum, accurate_sum
"""

import torch


def loop_error(x):
    return (x.sum().double() - x.sum(dtype=torch.float64)).abs().item()
