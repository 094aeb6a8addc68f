"""You ask NumPy for the answer; work it out from the sizes.

caught by: plain_python
"""

import numpy as np


def broadcast(a, b):
    return np.broadcast_shapes(a, b)
