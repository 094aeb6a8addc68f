"""`flip_last` by way of `swap`; a copy by `contiguous` and `clone`."""

import torch


def swap(t, a, b):
    a, b = a % t.ndim, b % t.ndim
    exchanged = {a: b, b: a}
    dims = [exchanged.get(d, d) for d in range(t.ndim)]
    return torch.as_strided(t, [t.shape[d] for d in dims], [t.stride()[d] for d in dims], t.storage_offset())


def flip_last(t):
    if t.ndim < 2:
        return torch.as_strided(t, t.shape, t.stride(), t.storage_offset())
    return swap(t, -1, -2)


def packed(t):
    return t.contiguous().clone(memory_format=torch.contiguous_format)
