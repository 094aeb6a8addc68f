"""Masks

A comparison such as `x > 2` gives a mask: a bool tensor of the shape of x. A mask picks elements, counts them, and says
which to overwrite. A language model uses one to keep a word from looking at the words after it.

    >>> x = torch.tensor([[1.0, 5.0, 2.0], [8.0, 2.5, -1.0]])
    >>> between(x, 2.0, 5.0)
    tensor([5.0000, 2.0000, 2.5000])
    >>> hide_future(torch.zeros(3, 3))
    tensor([[0., -inf, -inf],
            [0., 0., -inf],
            [0., 0., 0.]])

C1  `between(x, lo, hi)` returns the elements of x from lo to hi, both included, in reading order: shape (k,).
C2  `count_between(x, lo, hi)` returns how many these are, as a Python int. Neither function changes x.
C3  `replace_between_(x, lo, hi, value)` sets these elements of x itself to value, and returns x. The others stay.
C4  NaN lies in no range: it is not picked, not counted and not replaced.
C5  `hide_future(scores)` takes floats of shape (..., n, n), and returns a new tensor of their dtype in which entry (i,
    j) of each table is -inf where j > i, and the score elsewhere. scores stays as it is, and gradients flow back to it.
C6  The number of PyTorch operations does not grow with the sizes: no loop over tables, rows or elements.

x has any dims and strides, floats or ints. lo, hi and the ints of x are exact in float32; lo and hi lie in the range of
its dtype; x can hold value. n may be 0; scores may hold inf and NaN.
"""

import torch


def between(x: torch.Tensor, lo: float, hi: float) -> torch.Tensor:
    raise NotImplementedError  # TODO: the elements from lo to hi


def count_between(x: torch.Tensor, lo: float, hi: float) -> int:
    raise NotImplementedError  # TODO: how many there are


def replace_between_(x: torch.Tensor, lo: float, hi: float, value: float) -> torch.Tensor:
    raise NotImplementedError  # TODO: overwrite them in x itself


def hide_future(scores: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: -inf above the diagonal
