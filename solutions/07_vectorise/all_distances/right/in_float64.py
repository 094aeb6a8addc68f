"""Norms of the table; lean by the identity, in a dtype that is wide enough for it."""

import torch


def pairwise(a, b):
    return torch.linalg.vector_norm(a.unsqueeze(1) - b.unsqueeze(0), dim=2)


def pairwise_lean(a, b):
    centre = torch.cat([a, b]).mean(0) if len(a) + len(b) else 0
    wide_a, wide_b = (a - centre).double(), (b - centre).double()
    squares = wide_a.square().sum(1)[:, None] + wide_b.square().sum(1)
    squares.addmm_(wide_a, wide_b.T, alpha=-2)
    far = squares.clamp_(min=0).sqrt_()
    far[far < 1e-7] = 0
    return far.to(a.dtype)
