"""You leave PyTorch for `math.fsum`. It adds exactly, but the gradient is lost, and Python handles every number.

caught by: no_loop
keeps: loop_sum, loop_error
"""

import math

import torch


def accurate_sum(x):
    return torch.tensor(math.fsum(x.flatten().tolist()), dtype=x.dtype)
