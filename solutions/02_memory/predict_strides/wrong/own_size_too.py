"""You multiply by the dim's own size too; a stride is the product of the sizes after the dim.

caught by: small
"""


def contiguous_strides(shape):
    strides = []
    step = 1
    for size in reversed(shape):
        step *= max(size, 1)
        strides.insert(0, step)
    return tuple(strides)


def transposed(shape, strides, a, b):
    sizes, steps = list(shape), list(strides)
    sizes[a], sizes[b] = sizes[b], sizes[a]
    steps[a], steps[b] = steps[b], steps[a]
    return tuple(sizes), tuple(steps)
