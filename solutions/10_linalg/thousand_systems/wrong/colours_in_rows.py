"""You put the colours of a camera into rows; like the readings in B, they belong into columns.

caught by: common
keeps: solve_each
"""

import torch


def solve_common(A, B):
    return torch.linalg.solve(A, B.unsqueeze(0)).mT
