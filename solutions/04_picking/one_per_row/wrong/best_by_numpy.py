"""You look for the largest number with NumPy, which has no bfloat16. `argmax` of a tensor works for every dtype.

caught by: exact_best
keeps: pick
"""

import numpy as np


def best(t):
    index = tuple(int(i) for i in np.unravel_index(t.numpy().argmax(), tuple(t.shape)))
    return float(t[index]), index
