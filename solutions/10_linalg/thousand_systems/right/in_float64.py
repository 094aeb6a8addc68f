"""More exact than asked: in float64, and back."""

import torch


def solve_each(A, B):
    wide = torch.linalg.solve(A.to(torch.float64), B.to(torch.float64))
    return wide.type_as(B)


def solve_common(A, B):
    columns = B.to(torch.float64).repeat(A.size(0), 1, 1)
    return torch.linalg.solve(A.to(torch.float64), columns).to(B.dtype)
