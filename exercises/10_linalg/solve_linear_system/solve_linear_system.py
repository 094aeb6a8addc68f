"""Solve a linear system

Three measurements give 4x + 2y - 2z = 2, 2x + 5y + 3z = 21 and -2x + y + 2z = 6. In short this is `A @ x = b`.

    >>> solve(torch.tensor([[4, 2, -2], [2, 5, 3], [-2, 1, 2]]), torch.tensor([2, 21, 6]))
    tensor([1., 2., 3.])

C1  `solve(A, b)` returns x with `A @ x = b`. A has shape (n, n). b is one right-hand side of shape (n,), or k of
    them as the columns of shape (n, k). x has the shape of b.
C2  x is as exact as its dtype allows, even if A is nearly singular, such as a Hilbert matrix. The inverse of A, which
    loses digits, is never computed, nor obtained by solving for it.
C3  A and b are converted to the dtype that `torch.promote_types` gives for their dtypes. If both hold integers, they
    are converted to the default float dtype, `torch.get_default_dtype()`. x has this dtype.
C4  ValueError if A is not a matrix with as many columns as rows, or if b has neither of the two shapes in C1.
C5  ValueError if A is singular: elimination meets a column in which every possible pivot is 0, as with two equal rows.
    If rounding hides that, no error is required. A small determinant, small numbers and a 0 on the diagonal are fine.
C6  A and b are not changed.
C7  Gradients flow from x back to A and to b.
C8  All columns of b are solved together, without a loop: large n and k take as many operations as small ones. For
    n = 200 and k = 200 this takes at most 12 times as long as our own answer.

n and k are at least 1. A and b hold integers, float32 or float64 numbers; the default dtype is one of these two.
"""

import torch


def solve(A: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: check the shapes, choose the dtype, solve
