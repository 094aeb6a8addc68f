"""You eliminate without exchanging rows, and divide by a 0 on the diagonal, which does not make a matrix singular.

caught by: exact
"""

import torch


def solve_each(A, B):
    return solve_common(A, B.unsqueeze(-1)).squeeze(-1)


def solve_common(A, B):
    n = A.shape[-1]
    table = torch.cat([A, B.expand(len(A), n, B.shape[-1])], dim=-1)
    for step in range(n):
        row = table[:, step : step + 1] / table[:, step : step + 1, step : step + 1]
        factors = table[:, :, step : step + 1].index_fill(1, torch.tensor([step]), 0)
        table = table - factors * row
        table[:, step : step + 1] = row
    return table[:, :, n:]
