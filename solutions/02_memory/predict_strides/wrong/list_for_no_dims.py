"""You return a list where the shape has no dims; the strides are a tuple for each shape.

caught by: tuples
keeps: transposed
"""


def contiguous_strides(shape):
    if not shape:
        return []
    rest = contiguous_strides(shape[1:])
    return (rest[0] * max(shape[1], 1) if rest else 1, *rest)
