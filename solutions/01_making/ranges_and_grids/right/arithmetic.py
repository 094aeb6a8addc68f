"""Arithmetic on ranges; zeros and ones."""

import torch


def evens(n):
    return torch.arange(n) * 2


def table(n, m):
    return m * torch.arange(n)[:, None] + torch.arange(m)


def grid(lo, hi, n):
    steps = torch.arange(n, dtype=torch.float64) / (n - 1)
    return (lo + (hi - lo) * steps).float()


def ladder(a, b):
    return 10.0 ** torch.arange(a, b + 1)


def filled(n, m, value):
    return torch.ones(n, m, dtype=torch.tensor(value).dtype) * value


def scaled_identity(n, c):
    result = torch.zeros(n, n)
    result.fill_diagonal_(c)
    return result
