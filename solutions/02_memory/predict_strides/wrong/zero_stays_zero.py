"""You multiply by a size of 0, so strides become 0; a size of 0 counts as 1.

caught by: zero_sizes
keeps: transposed
"""

import math


def contiguous_strides(shape):
    return tuple(math.prod(shape[dim + 1 :]) for dim in range(len(shape)))
