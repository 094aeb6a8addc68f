"""You work the strides out from the shape, as if t were contiguous; ask t for those it has.

caught by: swap
keeps: flip_last, packed
"""

import torch


def swap(t, a, b):
    sizes, strides, step = list(t.shape), [], 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= size
    sizes[a], sizes[b] = sizes[b], sizes[a]
    strides[a], strides[b] = strides[b], strides[a]
    return torch.as_strided(t, sizes, strides, t.storage_offset())
