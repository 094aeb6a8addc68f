"""You multiply by the dim's own size too; a stride is the product of the sizes after the dim.

caught by: small
keeps: transposed
"""


def contiguous_strides(shape):
    strides = []
    step = 1
    for size in reversed(shape):
        step *= max(size, 1)
        strides.insert(0, step)
    return tuple(strides)
