"""You multiply by a size of 0, so strides become 0; a size of 0 counts as 1.

caught by: zero_sizes
"""

import math


def contiguous_strides(shape):
    return tuple(math.prod(shape[dim + 1 :]) for dim in range(len(shape)))


def transposed(shape, strides, a, b):
    sizes, steps = list(shape), list(strides)
    sizes[a], sizes[b] = sizes[b], sizes[a]
    steps[a], steps[b] = steps[b], steps[a]
    return tuple(sizes), tuple(steps)
