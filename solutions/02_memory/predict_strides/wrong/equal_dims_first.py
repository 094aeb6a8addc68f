"""You return early where a and b are equal, before you know that the dim exists.

caught by: out_of_range
keeps: contiguous_strides
"""


def transposed(shape, strides, a, b):
    if a == b:
        return tuple(shape), tuple(strides)
    sizes, steps = list(shape), list(strides)
    sizes[a], sizes[b] = sizes[b], sizes[a]
    steps[a], steps[b] = steps[b], steps[a]
    return tuple(sizes), tuple(steps)
