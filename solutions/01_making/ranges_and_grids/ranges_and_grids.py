"""also right: detached, right_in_float64, right_and_transposed"""

import torch


def evens(n, m):
    return torch.arange(0, 2 * n * m, 2).reshape(n, m)


def grid(lo, hi, n):
    return torch.linspace(lo, hi, n)


def ladder(a, b):
    return torch.logspace(a, b, b - a + 1)


def filled(n, m, value):
    return torch.full((n, m), value)


def scaled_identity(n, c):
    return c * torch.eye(n)
