"""You compare the loop with a sum in float32. It rounds, too, where large scores meet small ones: add in float64.

caught by: error_of_cancelling
keeps: loop_sum, accurate_sum
"""

import torch


def loop_error(x):
    wide = torch.float32 if x.itemsize == 2 else torch.float64
    return (loop_sum(x).double() - x.sum(dtype=wide).double()).abs().item()
