"""You give the strides of a fresh contiguous tensor; a transpose moves no number, it swaps two strides.

caught by: swapped_strides
"""


def contiguous_strides(shape):
    strides = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)


def transposed(shape, strides, a, b):
    sizes = list(shape)
    sizes[a], sizes[b] = sizes[b], sizes[a]
    return tuple(sizes), contiguous_strides(sizes)
