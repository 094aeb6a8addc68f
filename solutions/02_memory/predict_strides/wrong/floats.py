"""Your strides are floats, such as / gives; they are whole numbers, so start from 1 and divide with //.

caught by: tuples
keeps: transposed
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
