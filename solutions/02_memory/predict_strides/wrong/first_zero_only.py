"""You make a 1 of the first size of 0 only; each size of 0 counts as 1.

caught by: zero_sizes
keeps: transposed
"""

import math


def contiguous_strides(shape):
    sizes = list(shape)
    if 0 in sizes:
        sizes[sizes.index(0)] = 1
    return tuple(math.prod(sizes[i + 1 :]) for i in range(len(sizes)))
