"""In place, truly

The state of a simulation fills most of the memory, and its parts are views of it. There is no room for a second tensor
of that size, so each step must write into the state itself.

    >>> state = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> axpy_(state[0], 2.0, torch.tensor([10.0, 20.0]))
    tensor([21., 42.])
    >>> state
    tensor([[21., 42.],
            [ 3.,  4.]])

C1  `axpy_(y, a, x)` adds a times x to y, `sine_(t)` replaces each entry of t by its sine, and `reset_(t)` sets each
    entry to 0, even if it was NaN or infinity. reset_ takes any dtype, the others floating-point tensors.
C2  If the argument is a row, a column or a transpose of a tensor, that tensor shows the change. Each function returns
    its first argument itself, as PyTorch's own functions do.
C3  No second tensor: at most 64 bytes of new memory, for any size of the argument, and no list, NumPy or `.item()`.
    (`y += a * x` first makes `a * x`.)
C4  In axpy_, x may be broadcast to y. If y would have to grow, axpy_ raises RuntimeError, even for a = 0, and
    does not change y.
C5  axpy_ does not change x, not even temporarily.

a is an int or float; y and x have one dtype and do not overlap; y and t are not expanded. Nothing requires a gradient.
"""

import torch


def axpy_(y: torch.Tensor, a: float, x: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: y becomes y + a * x


def sine_(t: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: t becomes its sine


def reset_(t: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: t becomes 0
