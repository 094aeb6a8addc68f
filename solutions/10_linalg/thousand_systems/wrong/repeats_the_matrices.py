"""You repeat each matrix for each reading, so that it is stored and eliminated k times; it serves all columns at once.

caught by: memory
keeps: solve_each
"""

import torch


def solve_common(A, B):
    N, n, k = len(A), *B.shape
    return torch.linalg.solve(A[:, None].expand(N, k, n, n), B.T.expand(N, k, n)).mT
