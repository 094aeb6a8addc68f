"""You multiply both sides with the transpose of A (`mT`), which squares its condition number.

caught by: exact
"""

import torch


def solve_each(A, B):
    return solve_common(A, B.unsqueeze(-1)).squeeze(-1)


def solve_common(A, B):
    return torch.cholesky_solve(A.mT @ B, torch.linalg.cholesky_ex(A.mT @ A)[0])
