def sliced(shape, strides, offset, key):
    used = sum(item is not None and item is not ... for item in key)
    if used > len(shape):
        raise IndexError(f"{used} indices for {len(shape)} dims")
    if ... not in key:
        key = (*key, ...)
    left = iter(zip(shape, strides, strict=True))
    dims = []
    for item in key:
        if item is None:
            dims.append((1, 0))
        elif item is ...:
            dims += [next(left) for _ in range(len(shape) - used)]
        elif isinstance(item, slice):
            size, stride = next(left)
            start, length, step = taken(item, size)
            offset += start * stride
            dims.append((length, stride * step))
        else:
            size, stride = next(left)
            offset += place(item, size) * stride
    return tuple(size for size, _ in dims), tuple(stride for _, stride in dims), offset


def taken(item, size):
    """Where a slice begins, how many entries it takes, and how far they are from each other."""
    if item.step is not None and item.step < 1:
        raise ValueError(f"step {item.step} is below 1")
    places = range(*item.indices(size))
    return places.start, len(places), places.step


def place(index, size):
    if not -size <= index < size:
        raise IndexError(f"index {index} is beyond the ends of a dim of size {size}")
    return index + size if index < 0 else index
