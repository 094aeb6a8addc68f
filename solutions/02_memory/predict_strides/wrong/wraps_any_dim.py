"""You take dims modulo the rank, so a dim that does not exist becomes another one; raise IndexError.

caught by: out_of_range
keeps: contiguous_strides
"""


def transposed(shape, strides, a, b):
    a, b = a % len(shape), b % len(shape)
    sizes, steps = list(shape), list(strides)
    sizes[a], sizes[b] = sizes[b], sizes[a]
    steps[a], steps[b] = steps[b], steps[a]
    return tuple(sizes), tuple(steps)
