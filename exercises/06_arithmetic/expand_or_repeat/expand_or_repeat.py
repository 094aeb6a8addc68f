"""Expand, do not repeat

A vector that goes with every row of a batch need not be copied: `expand` shows the same numbers again and again, with
stride 0. `repeat` makes copies, which you need if you want to write to one of them.

    >>> v = torch.tensor([1.0, 2.0])
    >>> rows_of(v, 3).stride(), own_rows(v, 3).stride()
    ((0, 1), (2, 1))
    >>> add_to_columns_(torch.zeros(2, 2), v)
    tensor([[1., 1.],
            [2., 2.]])

C1  `rows_of(v, n)` returns shape (n, d) for v of shape (d,): every row is v, and lies in the memory of v.
C2  `own_rows(v, n)` returns the same numbers in memory of its own: a write to one row changes nothing else.
C3  `add_to_columns_(batch, values)` adds values[i] to all of row i of batch, in batch itself, and returns batch. It
    takes no memory for copies of values: for 1,000 columns, less than 2,000 bytes.
C4  v and values stay as they are, and results have their dtype. No loop goes over rows or elements: the number of
    operations does not grow with the sizes.

n and d may be 0 or 1. Tensors may have any strides. batch and values have the same float dtype and share no memory.
"""

import torch


def rows_of(v: torch.Tensor, n: int) -> torch.Tensor:
    raise NotImplementedError  # TODO: v again and again, without a copy


def own_rows(v: torch.Tensor, n: int) -> torch.Tensor:
    raise NotImplementedError  # TODO: rows to write to


def add_to_columns_(batch: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: one number to each row
