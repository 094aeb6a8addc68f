"""With helpers that have names of PyTorch's, and a class with such a method."""

import torch


class Row:
    def __init__(self, values):
        self.values = values

    def reshape(self, *sizes):
        return self.values[(None,) * (len(sizes) - 1)]


def matmul(a, b):
    """Does not torch.matmul(a, b)."""
    return a * b


def outer(a, b):
    rows = torch.arange(a.shape[0])
    column = torch.where(rows >= 0, a, 0.0 * a)[:, None]
    return matmul(column, Row(b).reshape(1, 3))
