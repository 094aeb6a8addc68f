"""You make an array and ask NumPy; work the strides out from the shape.

caught by: no_tensor
"""

import numpy as np


def contiguous_strides(shape):
    a = np.empty(shape, dtype=np.uint8)
    return tuple(a.strides)


def transposed(shape, strides, a, b):
    sizes, steps = list(shape), list(strides)
    sizes[a], sizes[b] = sizes[b], sizes[a]
    steps[a], steps[b] = steps[b], steps[a]
    return tuple(sizes), tuple(steps)
