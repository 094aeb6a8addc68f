"""Your `squeeze()` drops every dim of size 1, also that of a single camera or colour; name the dim you mean.

caught by: each
keeps: solve_common
"""

import torch


def solve_each(A, B):
    return torch.linalg.solve(A, B.unsqueeze(-1)).squeeze()
