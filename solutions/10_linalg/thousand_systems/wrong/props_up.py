"""You add a little to the diagonal (`eye`) so that nothing is singular; that solves other equations than the given
ones.

caught by: exact
"""

import torch


def solve_each(A, B):
    return torch.linalg.solve(propped(A), B)


def solve_common(A, B):
    return torch.linalg.solve(propped(A), B.unsqueeze(0))


def propped(A):
    return A + 1e-6 * torch.eye(A.shape[-1], dtype=A.dtype)
