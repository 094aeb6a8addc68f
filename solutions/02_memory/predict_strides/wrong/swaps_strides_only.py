"""You swap the strides and leave the shape as it was; a transpose swaps both.

caught by: swapped_sizes
"""


def contiguous_strides(shape):
    strides = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)


def transposed(shape, strides, a, b):
    steps = list(strides)
    steps[a], steps[b] = steps[b], steps[a]
    return tuple(shape), tuple(steps)
