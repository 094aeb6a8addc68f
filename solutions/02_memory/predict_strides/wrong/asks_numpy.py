"""You make an array and ask NumPy; work the strides out from the shape.

caught by: plain_python
keeps: transposed
"""

import numpy as np


def contiguous_strides(shape):
    a = np.empty(shape, dtype=np.uint8)
    return tuple(a.strides)
