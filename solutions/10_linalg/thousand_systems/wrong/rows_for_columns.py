"""You solve `x @ A = b`: a camera's matrix stands on the left of the colour, and you have transposed it.

caught by: each
keeps: solve_common
"""

import torch


def solve_each(A, B):
    return torch.linalg.solve(A.mT, B)
