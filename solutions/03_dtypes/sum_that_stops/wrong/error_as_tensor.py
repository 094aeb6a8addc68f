"""You return a tensor of 0 dims. item() makes a Python float of it.

caught by: error
keeps: loop_sum, accurate_sum
"""

import torch


def loop_error(x):
    return (loop_sum(x).double() - x.sum(dtype=torch.float64)).abs()
