"""The rule as a recursion, and one swap for both tuples."""


def contiguous_strides(shape):
    if not shape:
        return ()
    rest = contiguous_strides(shape[1:])
    return (rest[0] * max(shape[1], 1) if rest else 1, *rest)


def swapped(items, a, b):
    items = list(items)
    items[a], items[b] = items[b], items[a]
    return tuple(items)


def transposed(shape, strides, a, b):
    return swapped(shape, a, b), swapped(strides, a, b)
