"""Outer

All products of two vectors, as a table.

C1  `outer(a, b)` returns a table of the shape (len(a), len(b)): row i, column j holds a[i] * b[j].
C2  No loop: as many operations for long vectors as for short ones.
C3  By hand: without `torch.outer` and `einsum`, which would do all of it.
"""

import torch


def outer(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO
