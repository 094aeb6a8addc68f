"""You leave it to `torch.linalg.solve` to guess what B is: where N, n and k are equal, it takes its rows for vectors.

caught by: all_equal
keeps: solve_each
"""

import torch


def solve_common(A, B):
    return torch.linalg.solve(A, B)
