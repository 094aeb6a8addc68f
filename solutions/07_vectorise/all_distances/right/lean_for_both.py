"""The lean one serves for both; sloppy with names, so that more tables are alive than need be."""

import torch


def pairwise_lean(a, b):
    total = torch.zeros(a.size(0), b.size(0), dtype=a.dtype, device=a.device)
    for k in range(a.size(1)):
        left, right = torch.meshgrid(a[:, k], b[:, k], indexing="ij")
        difference = left - right
        square = difference * difference
        total = total + square
    return torch.sqrt(total)


def pairwise(a, b):
    return pairwise_lean(a, b)
