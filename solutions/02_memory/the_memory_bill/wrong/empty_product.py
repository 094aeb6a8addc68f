"""You give 0 for a shape without dims. A 0-dim tensor has one element: the product of no sizes is 1.

caught by: tensor_edges
keeps: boxed_bytes, held_bytes, compact
"""

import math


def tensor_bytes(shape, dtype):
    return math.prod(shape) * dtype.itemsize if shape else 0
