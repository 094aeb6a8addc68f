"""The key is filled up first; starts and stops are cut by hand."""


def cut(value, size):
    if value < 0:
        value += size
    return max(0, min(size, value))


def sliced(shape, strides, offset, key):
    items, rest = list(key), len(shape) - len([k for k in key if isinstance(k, (int, slice))])
    if rest < 0:
        raise IndexError("too many indices")
    at = next((i for i, item in enumerate(items) if item is Ellipsis), None)
    if at is None:
        items += [slice(None)] * rest
    else:
        items[at : at + 1] = [slice(None)] * rest
    new_shape, new_strides, dim = [], [], 0
    for item in items:
        if item is None:
            new_shape.append(1)
            new_strides.append(1)
            continue
        size, stride = shape[dim], strides[dim]
        dim += 1
        if isinstance(item, int):
            offset += range(size)[item] * stride
            continue
        step = 1 if item.step is None else item.step
        if step <= 0:
            raise ValueError("step must be greater than zero")
        start = 0 if item.start is None else cut(item.start, size)
        stop = size if item.stop is None else cut(item.stop, size)
        new_shape.append(max(0, -((start - stop) // step)))
        new_strides.append(stride * step)
        offset += start * stride
    return (*new_shape,), (*new_strides,), offset
