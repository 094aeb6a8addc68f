"""You write the colours over the readings, which the caller still needs, and which autograd refuses.

caught by: kept
keeps: solve_common
breaks: C6, C7
"""

import torch


def solve_each(A, B):
    return torch.linalg.solve(A, B, out=B)
