"""You count from the first dim on (column-major); in PyTorch the last dim has stride 1.

caught by: small
keeps: transposed
"""


def contiguous_strides(shape):
    strides = []
    step = 1
    for size in shape:
        strides.append(step)
        step *= max(size, 1)
    return tuple(strides)
