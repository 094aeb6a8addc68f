"""You reverse all dims, which is right for two of them; a transpose swaps dims a and b alone.

caught by: swapped_strides
keeps: contiguous_strides
"""


def transposed(shape, strides, a, b):
    for dim in (a, b):
        if not -len(shape) <= dim < len(shape):
            raise IndexError(dim)
    return tuple(reversed(shape)), tuple(reversed(strides))
