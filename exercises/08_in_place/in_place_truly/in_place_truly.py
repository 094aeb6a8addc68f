"""In place, truly

The state of a simulation fills most of the memory, and its parts hold windows on it: this row is the wind, that column
the coast. Each step has to write into the state itself. A second tensor of that size has no room, even for a moment.

    >>> state = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> axpy_(state[0], 2.0, torch.tensor([10.0, 20.0]))
    tensor([21., 42.])
    >>> state
    tensor([[21., 42.],
            [ 3.,  4.]])

C1  `axpy_(y, a, x)` adds a times x to y, `sine_(t)` puts its sine in the place of each entry of t, and `reset_(t)`
    makes each entry 0, also where NaN or infinity was. reset_ takes any dtype, the others floating-point tensors.
C2  In place: the numbers change where they lie, so that a tensor sees it of which the argument is a row, a column or a
    transpose. Each function returns its first argument itself, as PyTorch's own functions do.
C3  No second tensor on the way: at most 64 bytes of new memory in all, however large the argument is. You may read that
    `y += a * x` works in place; in fact only its addition does. The numbers go to no list, no NumPy and no `.item()`.
C4  In axpy_, x may be broadcast to y. Where y would have to grow, it raises RuntimeError and leaves y as it was.
C5  axpy_ does not change x, not even for a moment.

a is a Python number; y and x have one dtype and do not overlap; y and t are not expanded. Nothing needs a gradient.
"""

import torch


def axpy_(y: torch.Tensor, a: float, x: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: y becomes y + a * x


def sine_(t: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: t becomes its sine


def reset_(t: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: t becomes 0
