"""You give the strides of a fresh contiguous tensor; a transpose moves no number, it swaps two strides.

caught by: swapped_strides
keeps: contiguous_strides
"""


def transposed(shape, strides, a, b):
    sizes = list(shape)
    sizes[a], sizes[b] = sizes[b], sizes[a]
    return tuple(sizes), contiguous_strides(sizes)
