"""You loop over the readings, and eliminate all matrices again for each; the solver takes all columns at once.

caught by: no_loop
keeps: solve_each
"""

import torch


def solve_common(A, B):
    X = A.new_empty(len(A), *B.shape)
    for j in range(B.shape[1]):
        X[:, :, j] = torch.linalg.solve(A, B[:, j].expand(len(A), -1))
    return X
