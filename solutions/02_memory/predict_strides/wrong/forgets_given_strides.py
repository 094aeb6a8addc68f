"""You work the strides out from the shape; use the ones given, t need not be contiguous.

caught by: any_strides
keeps: contiguous_strides
"""


def transposed(shape, strides, a, b):
    sizes, steps = list(shape), list(contiguous_strides(shape))
    sizes[a], sizes[b] = sizes[b], sizes[a]
    steps[a], steps[b] = steps[b], steps[a]
    return tuple(sizes), tuple(steps)
