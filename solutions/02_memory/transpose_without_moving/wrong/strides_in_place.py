"""You call `as_strided_` with the underscore. It turns the caller's t itself; without it you get a second window.

caught by: kept
keeps: flip_last, packed
"""

import torch


def swap(t, a, b):
    sizes, strides = list(t.shape), list(t.stride())
    sizes[a], sizes[b] = sizes[b], sizes[a]
    strides[a], strides[b] = strides[b], strides[a]
    return torch.as_strided_(t, sizes, strides, t.storage_offset())
