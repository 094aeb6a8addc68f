"""You eliminate without exchanging rows: a 0 on the diagonal does not make A singular.

caught by: awkward_order
keeps: refuse_misfits, promoted
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    refuse_misfits(A, b)
    A, b = promoted(A, b)
    columns = b.reshape(len(b), -1)
    table = torch.cat([A, columns], dim=1)
    n = len(A)
    for step in range(n):
        if table[step, step] == 0:
            raise ValueError("A is singular")
        factors = table[step + 1 :, step : step + 1] / table[step, step]
        table = torch.cat([table[: step + 1], table[step + 1 :] - factors * table[step]])
    x = torch.linalg.solve_triangular(table[:, :n].triu(), table[:, n:], upper=True)
    return x.reshape(b.shape)
