"""One distance written down, and mapped over both sets."""

import torch


def _distance(one, other):
    return ((one - other) ** 2).sum() ** 0.5


def pairwise(a, b):
    if not (len(a) and len(b)):
        return a.new_empty(len(a), len(b))
    to_all = torch.vmap(_distance, in_dims=(None, 0))
    return torch.vmap(to_all, in_dims=(0, None))(a, b)


def pairwise_lean(a, b):
    squares = sum((x[:, None] - y[None, :]).pow_(2) for x, y in zip(a.T, b.T, strict=True))
    return squares.sqrt_()
