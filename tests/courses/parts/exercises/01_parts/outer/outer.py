"""Outer product

C1  `outer(a, b)` returns the outer product of two 1-D tensors.
C2  It is made with `arange`, `where`, indexing, arithmetic and comparisons alone.
"""

import torch


def outer(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO
