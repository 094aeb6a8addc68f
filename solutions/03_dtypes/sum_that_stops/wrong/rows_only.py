"""You take the dot product with ones, which exists for one row of scores only. A table of scores has a sum as well.

caught by: any_shape
keeps: loop_sum, loop_error
"""

import torch


def accurate_sum(x):
    wide = x.double()
    return torch.dot(wide, torch.ones_like(wide)).to(x.dtype)
