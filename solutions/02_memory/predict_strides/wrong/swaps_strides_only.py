"""You swap the strides and leave the shape as it was; a transpose swaps both.

caught by: swapped_sizes
keeps: contiguous_strides
"""


def transposed(shape, strides, a, b):
    steps = list(strides)
    steps[a], steps[b] = steps[b], steps[a]
    return tuple(shape), tuple(steps)
