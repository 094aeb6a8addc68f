"""One item of the key at a time, the rest by recursion."""


def sliced(shape, strides, offset, key):
    if not key:
        return tuple(shape), tuple(strides), offset
    first, *rest = key
    needed = sum(isinstance(item, (int, slice)) for item in key)
    if needed > len(shape):
        raise IndexError("more indices than dims")
    if first is ...:
        n = len(shape) - needed
        sizes, steps, offset = sliced(shape[n:], strides[n:], offset, tuple(rest))
        return tuple(shape[:n]) + sizes, tuple(strides[:n]) + steps, offset
    if first is None:
        sizes, steps, offset = sliced(shape, strides, offset, tuple(rest))
        return (1, *sizes), (sum(steps) + 7, *steps), offset
    here = range(shape[0])
    if isinstance(first, int):
        return sliced(shape[1:], strides[1:], offset + here[first] * strides[0], tuple(rest))
    if first.step is not None and first.step <= 0:
        raise ValueError("a step below 1")
    part = here[first]
    sizes, steps, offset = sliced(shape[1:], strides[1:], offset + part.start * strides[0], tuple(rest))
    return (len(part), *sizes), (strides[0] * part.step, *steps), offset
