"""You divide with /, which makes floats; strides are whole numbers, so divide with //.

caught by: tuples
"""


def contiguous_strides(shape):
    step = 1
    for size in shape:
        step *= max(size, 1)
    strides = []
    for size in shape:
        step = step / max(size, 1)
        strides.append(step)
    return tuple(strides)


def transposed(shape, strides, a, b):
    sizes, steps = list(shape), list(strides)
    sizes[a], sizes[b] = sizes[b], sizes[a]
    steps[a], steps[b] = steps[b], steps[a]
    return tuple(sizes), tuple(steps)
