"""You measure how far `sum` is off. Measure the loop instead: loop_sum(x) against the sum in float64.

caught by: error
keeps: loop_sum, accurate_sum
"""

import torch


def loop_error(x):
    return (x.sum().double() - x.sum(dtype=torch.float64)).abs().item()
