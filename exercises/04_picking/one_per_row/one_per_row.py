"""One per row

A classifier gives each of N pictures C scores, one for each class. Labels say which class each picture really shows.
How did the model score the right classes? You need one number from each row, from the column of its label.
`scores[:, labels]` is not it: that takes all of these columns from every row, an (N, N) table.

    >>> scores = torch.tensor([[0.25, 0.5, 0.25], [0.75, 0.0, 0.125]])
    >>> pick(scores, torch.tensor([2, 0]))
    tensor([0.2500, 0.7500])
    >>> best(scores)
    (0.75, (1, 0))

C1  `pick(scores, labels)` returns a tensor of shape (N,), whose entry i is the entry labels[i] of row i of scores.
    Nothing else in scores matters, not even NaN. N may be 0 or 1.
C2  The result of `pick` has the dtype of scores, and lets gradients through to scores.
C3  `pick` makes no table: it needs at most 100 bytes of new memory for each row, for 200 rows or more.
C4  `best(t)` returns the pair (value, index), a tuple: the largest number in t as a Python float, and its place as a
    tuple of Python ints, one for each dim of t, so that t[index] is that number. t may have 0 dims, too.
C5  If the largest number stands in several places, `best` returns the first of them in reading order, row by row.
C6  A large tensor takes as many PyTorch operations as a small one: no loop over the rows or the elements.
C7  The arguments are not changed. All tensors may have any strides.

labels are int64, from 0 to C - 1; scores are floats. t holds one or more floats without NaN, or int8 to int64 that a
float holds exactly.
"""

import torch


def pick(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: one entry of each row


def best(t: torch.Tensor) -> tuple[float, tuple[int, ...]]:
    raise NotImplementedError  # TODO: the largest number and its place
