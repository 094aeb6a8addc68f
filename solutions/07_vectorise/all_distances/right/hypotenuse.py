"""Repeated tables, and one leg after the other for the lean one."""

import torch


def pairwise(a, b):
    n, m = len(a), len(b)
    steps = a.repeat_interleave(m, 0) - b.repeat(n, 1)
    return torch.einsum("pd,pd->p", steps, steps).sqrt().reshape(n, m)


def pairwise_lean(a, b):
    far = torch.zeros(len(a), len(b), dtype=a.dtype)
    for k in range(a.shape[1]):
        leg = a[:, k].reshape(-1, 1) - b[:, k].reshape(1, -1)
        far = torch.hypot(far, leg)
    return far
