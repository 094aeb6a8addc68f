"""Tally

How often does each number occur?

C1  `tally(x, n)` returns a vector of n counts: element k says how often k stands in x. All numbers of x are from 0 to n - 1.
C2  The counts are int64.
C3  No loop, and `bincount` is not called.
"""

import torch


def tally(x: torch.Tensor, n: int) -> torch.Tensor:
    raise NotImplementedError  # TODO
