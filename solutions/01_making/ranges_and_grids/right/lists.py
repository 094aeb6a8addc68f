"""Python's own ranges, made into tensors."""

import torch


def evens(n):
    return torch.tensor(range(0, 2 * n, 2), dtype=torch.int64)


def table(n, m):
    return torch.arange(0, n * m).view(n, m)


def grid(lo, hi, n):
    return torch.tensor([lo + (hi - lo) * i / (n - 1) for i in range(n)], dtype=torch.float32)


def ladder(a, b):
    return torch.tensor([10.0**i for i in range(a, b + 1)])


def filled(n, m, value):
    return torch.tensor(value).repeat(n, m)


def scaled_identity(n, c):
    return torch.diag(torch.full((n,), float(c)))
