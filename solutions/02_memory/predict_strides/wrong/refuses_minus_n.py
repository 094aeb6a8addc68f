"""You stop one short: -1 to -n are the dims of n, so -n is the first dim and no error.

caught by: negative
keeps: contiguous_strides
"""


def transposed(shape, strides, a, b):
    dims = len(shape)
    if not (-dims < a < dims and -dims < b < dims):
        raise IndexError("no such dim")
    shape, strides = list(shape), list(strides)
    shape[a], shape[b] = shape[b], shape[a]
    strides[a], strides[b] = strides[b], strides[a]
    return tuple(shape), tuple(strides)
