"""You find each dim by its size with `index`, which gives the first of two equal sizes; count the dims instead.

caught by: random_shapes
keeps: transposed
"""

import math


def contiguous_strides(shape):
    return tuple(math.prod(max(rest, 1) for rest in shape[shape.index(size) + 1 :]) for size in shape)
