"""Ones, added at their places."""

import torch


def tally(x, n):
    return torch.zeros(n, dtype=torch.int64).scatter_add(0, x, torch.ones_like(x))
