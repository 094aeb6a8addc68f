"""You switch gradients off with `no_grad`; the colours are then plain numbers without a history.

caught by: gradients
"""

import torch


@torch.no_grad()
def solve_each(A, B):
    return torch.linalg.solve(A, B)


@torch.no_grad()
def solve_common(A, B):
    return torch.linalg.solve(A, B.unsqueeze(0))
