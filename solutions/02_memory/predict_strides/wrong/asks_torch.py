"""You make a tensor and ask it; work the strides out from the shape.

caught by: plain_python
"""

import torch


def contiguous_strides(shape):
    return torch.empty(shape, device="meta").stride()


def transposed(shape, strides, a, b):
    t = torch.empty_strided(shape, strides, device="meta").transpose(a, b)
    return tuple(t.shape), t.stride()
