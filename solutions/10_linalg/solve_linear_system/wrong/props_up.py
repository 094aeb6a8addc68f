"""You add a little to the diagonal (`eye`) so that nothing is singular. That solves other equations, and x is off.

caught by: exact
keeps: refuse_misfits, promoted
"""

import torch


def solve(A, b):
    refuse_misfits(A, b)
    A, b = promoted(A, b)
    try:
        torch.linalg.solve(A, b)
    except torch.linalg.LinAlgError as error:
        raise ValueError("A is singular") from error
    return torch.linalg.solve(A + 1e-9 * torch.eye(len(A), dtype=A.dtype), b)
