"""Turn

Everybody moves one place on, and the last comes first.

C1  `turn(x)` returns a vector of the same length and dtype: the last element of x, then all others in order.
C2  x is not changed.
C3  No loop, and `roll` is not called.
"""

import torch


def turn(x: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO
