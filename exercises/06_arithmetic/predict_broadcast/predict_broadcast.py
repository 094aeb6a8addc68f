"""Predict the broadcast

A camera gives pictures of shape (3, 480, 640): colours, rows, columns. You multiply one by a correction for each row,
of shape (480, 1), and PyTorch stretches the correction over colours and columns. Which shapes go together, and what
comes out, follows from a short rule. Write that rule, without asking PyTorch:

    >>> broadcast((3, 480, 640), (480, 1))
    (3, 480, 640)

C1  `broadcast(a, b)` returns the shape of `x + y`, where x has shape a and y has shape b: a tuple of ints.
C2  The shapes are lined up at their right ends. Where one of them has no sizes left, it counts as 1 there.
C3  Two sizes that meet fit if they are equal or one of them is 1. The result has that size, or the one beside the 1.
C4  Where two sizes do not fit, such as 2 and 3, or 2 and 0, it raises ValueError, even if x and y have equally many
    elements.
C5  Every shape takes part. You may read that a tensor needs at least one dim and must not be empty; in fact `()`, a
    single number, goes with every shape, and 0 is a size like others: with 1 or 0 it gives 0.
C6  Plain Python: no tensor, no torch, no NumPy. Modules such as itertools are fine. Else 3 points at most.

a and b are tuples of 0 to 5 ints.
"""


def broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    raise NotImplementedError  # TODO
