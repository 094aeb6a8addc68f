"""You add float16 and bfloat16 scores in float32. It rounds, too, where large scores meet small ones: add in float64.

caught by: cancels_in_halves
keeps: loop_sum, loop_error
"""

import torch


def accurate_sum(x):
    return x.sum(dtype=torch.float32 if x.itemsize == 2 else torch.float64).to(x.dtype)
