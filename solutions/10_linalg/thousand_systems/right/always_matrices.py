"""Both as matrices, of which nothing is left to guess: LU once, and then all columns."""

import torch


def solve_each(A, B):
    return solved(A, B[:, :, None])[:, :, 0]


def solve_common(A, B):
    return solved(A, B[None].expand(len(A), -1, -1))


def solved(A, columns):
    factors, pivots = torch.linalg.lu_factor(A)
    return torch.linalg.lu_solve(factors, pivots, columns)
