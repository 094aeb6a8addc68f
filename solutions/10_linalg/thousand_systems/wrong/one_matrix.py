"""You take the readings of all cameras as the columns of one matrix, and solve for each pair of camera and reading.

caught by: each
keeps: solve_common
breaks: C1, C4
"""

import torch


def solve_each(A, B):
    return torch.linalg.solve(A, B.T.unsqueeze(0))
