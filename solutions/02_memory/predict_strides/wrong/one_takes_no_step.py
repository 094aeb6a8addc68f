"""You give dims of size 1 a stride of 1; nobody takes that step, but PyTorch counts it like any other.

caught by: small
keeps: transposed
"""

import math


def contiguous_strides(shape):
    return tuple(
        1 if shape[dim] == 1 else math.prod(max(size, 1) for size in shape[dim + 1 :]) for dim in range(len(shape))
    )
