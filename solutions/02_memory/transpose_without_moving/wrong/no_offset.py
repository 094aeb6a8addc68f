"""You start the window at the first number of the memory; t itself may start later.

caught by: swap_windows
keeps: flip_last, packed
"""

import torch


def swap(t, a, b):
    sizes, strides = list(t.shape), list(t.stride())
    sizes[a], sizes[b] = sizes[b], sizes[a]
    strides[a], strides[b] = strides[b], strides[a]
    return torch.as_strided(t, sizes, strides, 0)
