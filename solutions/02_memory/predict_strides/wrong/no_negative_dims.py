"""You refuse negative dims; -1 is the last dim.

caught by: negative
keeps: contiguous_strides
"""


def transposed(shape, strides, a, b):
    for dim in (a, b):
        if not 0 <= dim < len(shape):
            raise IndexError(f"there is no dim {dim}")
    sizes, steps = list(shape), list(strides)
    sizes[a], sizes[b] = sizes[b], sizes[a]
    steps[a], steps[b] = steps[b], steps[a]
    return tuple(sizes), tuple(steps)
