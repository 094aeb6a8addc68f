"""You take four bytes for each element; that is float32, and the dtype knows its own `itemsize`.

caught by: tensor_example
keeps: boxed_bytes, held_bytes, compact
"""

import math


def tensor_bytes(shape, dtype):
    return math.prod(shape) * 4
