"""The functions of torch, with their result in the first argument."""

import torch


def axpy_(y, a, x):
    return torch.add(y, x, alpha=a, out=y)


def sine_(t):
    return torch.sin_(t)


def reset_(t):
    return torch.zero_(t)
