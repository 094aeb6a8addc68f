"""You eliminate row by row in Python, which is right, and 60 times slower than `torch.linalg.solve`.

caught by: together
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
        best = step + int(table[step:, step].abs().argmax())
        if table[best, step] == 0:
            raise ValueError("A is singular")
        order = list(range(n))
        order[step], order[best] = best, step
        table = table[order]
        factors = table[step + 1 :, step : step + 1] / table[step, step]
        table = torch.cat([table[: step + 1], table[step + 1 :] - factors * table[step]])
    x = torch.linalg.solve_triangular(table[:, :n].triu(), table[:, n:], upper=True)
    return x.reshape(b.shape)
