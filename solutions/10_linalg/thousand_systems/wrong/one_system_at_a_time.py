"""You still solve one system after the other: a list comprehension is a loop too.

caught by: no_loop
keeps: solve_common
"""

import torch


def solve_each(A, B):
    if len(A) == 0:
        return B.clone()
    return torch.stack([torch.linalg.solve(matrix, reading) for matrix, reading in zip(A, B, strict=True)])
