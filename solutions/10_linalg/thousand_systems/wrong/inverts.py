"""You invert each matrix (`inv`) and multiply: where a matrix is nearly singular, the product is far off the equations.

caught by: exact
"""

import torch


def solve_each(A, B):
    return (torch.linalg.inv(A) @ B.unsqueeze(-1)).squeeze(-1)


def solve_common(A, B):
    return torch.linalg.inv(A) @ B
