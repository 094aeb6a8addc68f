"""You solve for each pair of camera and reading and keep the diagonal, which is N times the memory you need.

caught by: memory
keeps: solve_common
breaks: C4, C5
"""

import torch


def solve_each(A, B):
    pairs = torch.linalg.solve(A, B.T.unsqueeze(0))
    return pairs.diagonal(dim1=0, dim2=2).T
