"""You cut the tuples at a, then at b, which needs a < b; the dims come in any order, and may be the same.

caught by: swapped_sizes
keeps: contiguous_strides
"""


def transposed(shape, strides, a, b):
    dims = range(len(shape))
    a, b = dims[a], dims[b]
    return swapped(shape, a, b), swapped(strides, a, b)


def swapped(items, a, b):
    return (*items[:a], items[b], *items[a + 1 : b], items[a], *items[b + 1 :])
