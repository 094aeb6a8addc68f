"""The order of the dims first, then sizes and strides in that order."""

import torch


def swap(t, a, b):
    order = list(range(t.dim()))
    order[a], order[b] = order[b], order[a]
    size = tuple(t.size(i) for i in order)
    stride = tuple(t.stride(i) for i in order)
    return t.as_strided(size, stride)


def flip_last(t):
    return t[...] if t.dim() < 2 else t.transpose(-2, -1)


def packed(t):
    own = torch.empty(t.shape, dtype=t.dtype, device=t.device)
    own.copy_(t)
    return own
