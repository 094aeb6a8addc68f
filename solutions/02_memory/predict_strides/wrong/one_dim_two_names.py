"""You look for equal dims before you make them positive; of three dims, 1 and -2 are the same one.

caught by: negative
keeps: contiguous_strides
"""


def transposed(shape, strides, a, b):
    if a == b:
        shape[a]  # raises IndexError for a dim that does not exist
        return tuple(shape), tuple(strides)
    dims = range(len(shape))
    a, b = sorted((dims[a], dims[b]))
    return swapped(shape, a, b), swapped(strides, a, b)


def swapped(items, a, b):
    return (*items[:a], items[b], *items[a + 1 : b], items[a], *items[b + 1 :])
