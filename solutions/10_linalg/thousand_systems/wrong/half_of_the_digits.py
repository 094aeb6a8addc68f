"""You solve in float32 (`float`) and convert back: the dtype is right again, but the lost digits do not return.

caught by: exact
"""

import torch


def solve_each(A, B):
    return torch.linalg.solve(A.float(), B.float()).to(B.dtype)


def solve_common(A, B):
    return torch.linalg.solve(A.float(), B.float().unsqueeze(0)).to(B.dtype)
