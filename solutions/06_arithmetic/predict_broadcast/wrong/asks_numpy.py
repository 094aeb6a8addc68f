"""You ask NumPy for the answer; work it out from the sizes.

caught by: no_tensor
"""

import numpy as np


def broadcast(a, b):
    return np.broadcast_shapes(a, b)
