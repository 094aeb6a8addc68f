"""You go through float32; what it rounds away does not come back.

caught by: dtype
keeps: pairwise
"""

import torch


def pairwise_lean(a, b):
    squares = torch.zeros(len(a), len(b))
    for k in range(a.shape[1]):
        squares += (a[:, k, None] - b[:, k]).square().float()
    return squares.sqrt().to(a.dtype)
