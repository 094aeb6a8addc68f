"""You return the difference with its sign. An error is how far off a number is, which is never below 0.

caught by: error
keeps: loop_sum, accurate_sum
"""

import torch


def loop_error(x):
    return (loop_sum(x).double() - x.sum(dtype=torch.float64)).item()
