"""Expand, do not repeat

A bias is added to every row of a batch. You need not copy it for each row: `expand` shows the same numbers again and
again, with stride 0, and takes no memory. `repeat` makes copies, which you need if you want to write to one of them.

    >>> v = torch.tensor([1.0, 2.0])
    >>> rows_of(v, 3).stride(), own_rows(v, 3).stride()
    ((0, 1), (2, 1))
    >>> add_bias_(torch.zeros(2, 2), v)
    tensor([[1., 2.],
            [1., 2.]])

C1  `rows_of(v, n)` returns shape (n, d) for v of shape (d,): every row is v. It makes no new data: every row lies in
    the memory of v.
C2  `own_rows(v, n)` returns the same numbers in memory of its own, each row in its own place: a write to one row
    changes neither v nor another row.
C3  `add_bias_(batch, bias)` adds bias of shape (d,) to every row of batch of shape (n, d), in batch itself, and returns
    batch. It takes no memory for copies of bias: for 1,000 rows, less than 2,000 bytes of new memory.
C4  `add_to_columns_(batch, values)` adds values[i] to all of row i of batch, in batch itself, and returns batch; values
    has shape (n,).
C5  v, bias and values stay as they are, and results have their dtype. The number of operations does not grow with n.

d and n may be 0 or 1; strides are any; in one call all tensors have the same dtype, a float, and share no memory. If
you break C1 to C4, change an argument or loop, you get at most 6 points, and at most 4 if a shown check fails.
"""

import torch


def rows_of(v: torch.Tensor, n: int) -> torch.Tensor:
    raise NotImplementedError  # TODO: v again and again, without a copy


def own_rows(v: torch.Tensor, n: int) -> torch.Tensor:
    raise NotImplementedError  # TODO: rows to write to


def add_bias_(batch: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: the same vector to every row


def add_to_columns_(batch: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: one number to each row
