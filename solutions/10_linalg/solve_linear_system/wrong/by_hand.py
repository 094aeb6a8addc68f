"""You eliminate row by row in Python, which is right, and 60 times slower than `torch.linalg.solve`.

caught by: speed
"""

import torch
from torch import Tensor


def solve(A: Tensor, b: Tensor) -> Tensor:
    if A.dim() != 2 or A.shape[0] != A.shape[1]:
        raise ValueError("A must be a square matrix")
    if b.dim() not in (1, 2) or b.shape[0] != A.shape[0]:
        raise ValueError("b does not fit A")
    dtype = torch.promote_types(A.dtype, b.dtype)
    if not dtype.is_floating_point:
        dtype = torch.get_default_dtype()
    columns = b.to(dtype).reshape(len(b), -1)
    table = torch.cat([A.to(dtype), columns], dim=1)
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
