import torch


def arange(n):
    return torch.tensor(range(n))


def where(q, a, b):
    return q * a + ~q * b


def ones(n):
    return arange(n) * 0 + 1.0


def sum_(a):
    return a @ ones(len(a)).to(a.dtype)[:, None]


def outer(a, b):
    return a[:, None] * b[None]


def diff(a, n):
    return torch.cat([a[:1], a[1:] - a[:-1]])


def pad_to(a, i, j):
    return torch.nn.functional.pad(a, (0, j - i))
