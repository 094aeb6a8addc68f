"""You put all matrices into one large one, nearly all zeros: it takes N times the memory and far more time.

caught by: memory
keeps: solve_common
breaks: C4, C5
"""

import torch


def solve_each(A, B):
    N, n = B.shape
    large = A.new_zeros(N, n, N, n)
    large.diagonal(dim1=0, dim2=2).copy_(A.permute(1, 2, 0))
    return torch.linalg.solve(large.reshape(N * n, N * n), B.reshape(-1)).reshape(N, n)
