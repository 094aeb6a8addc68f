"""Correct the slide

A table has one row for each day, one column for each sensor. The functions below follow a slide that is wrong twice.
It says that `t[0:1]` is the first 2 rows, but a slice excludes its stop. It says that `t[-1]` keeps the number of dims
and `t[-1:]` drops one, but it is the other way round.

    >>> t = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> first_rows(t, 1), last(t, keep=True), last(t, keep=False)
    (tensor([[1., 2., 3.]]), tensor([[4., 5., 6.]]), tensor([4., 5., 6.]))

C1  `first_rows(t, n)` returns the first n rows of t, where n is 0 to all of them: shape (n, columns).
C2  `first_cols(t, n)` returns the first n columns of t, likewise: shape (rows, n).
C3  `last(t, keep)` returns the last row of t: of shape (1, columns) if keep is True, (columns,) if it is False.
C4  `first_rows`, `first_cols` and `last` return views of t: a write to one shows in t, and gradients flow back to t.
C5  `set_first_cols_(t, n, v)` sets the first n columns to exactly v, and nothing else.
C6  `set_first_cols_` works in place: it changes t itself, and returns t itself.

t is 2-D, with one row or more, of any dtype and strides, but no two elements share memory; its dtype can hold v.
"""

import torch


def first_rows(t: torch.Tensor, n: int) -> torch.Tensor:
    return t[0 : n - 1]  # TODO: correct


def first_cols(t: torch.Tensor, n: int) -> torch.Tensor:
    return t[:, 0 : n - 1]  # TODO: correct


def last(t: torch.Tensor, keep: bool) -> torch.Tensor:
    return t[-1] if keep else t[-1:]  # TODO: correct


def set_first_cols_(t: torch.Tensor, n: int, v: float) -> torch.Tensor:
    t[:, 0 : n - 1] = v  # TODO: correct
    return t
