"""By element_size, a meta tensor and a copy into new memory."""

import sys

import torch


def boxed_bytes(xs):
    total = xs.__sizeof__() + sys.getsizeof([]) - [].__sizeof__()
    for x in xs:
        total += sys.getsizeof(x)
    return total


def tensor_bytes(shape, dtype):
    n = 1
    for size in shape:
        n *= size
    return n * torch.empty((), dtype=dtype).element_size()


def held_bytes(t):
    return len(t.untyped_storage())


def compact(t):
    if t.numel() * t.element_size() * 2 < held_bytes(t):
        return torch.empty(t.shape, dtype=t.dtype).copy_(t)
    return t
