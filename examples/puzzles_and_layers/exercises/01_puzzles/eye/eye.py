"""Ones on the diagonal

The identity, without asking PyTorch for it.

C1  `eye(n)` returns an (n, n) table with 1 where row and column have the same number, and 0 elsewhere.
C2  Its dtype is int64.
C3  No loop: as many operations for a large n as for a small one.
"""

import torch


def eye(n: int) -> torch.Tensor:
    raise NotImplementedError  # TODO
