"""You compute in float32 throughout, and lose half of the digits of float64 numbers.

caught by: dtypes
"""

import torch


def solve_each(A, B):
    return torch.linalg.solve(A.float(), B.float())


def solve_common(A, B):
    return torch.linalg.solve(A.float(), B.float().unsqueeze(0))
