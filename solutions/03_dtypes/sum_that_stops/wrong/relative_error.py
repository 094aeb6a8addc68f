"""You divide by the sum, which gives the share that is lost. Return the difference itself, in scores.

caught by: error
keeps: loop_sum, accurate_sum
"""

import torch


def loop_error(x):
    exact = x.sum(dtype=torch.float64)
    return ((loop_sum(x).double() - exact).abs() / exact.abs()).item()
