"""Predict the broadcast

A camera gives pictures of shape (3, 480, 640): colours, rows, columns. You multiply one by a correction for each row,
of shape (480, 1), and PyTorch stretches the correction over colours and columns. A short rule says which shapes go
together and what comes out. Write that rule in plain Python:

    >>> broadcast((3, 480, 640), (480, 1))
    (3, 480, 640)

C1  `broadcast(a, b)` returns the shape of `x + y`, where x has shape a and y has shape b: a tuple of ints.
C2  The shapes are aligned at their right ends. A size that one of them lacks counts as 1.
C3  Two sizes that meet fit if they are equal or one of them is 1. If they are equal, the result has that size; if one
    is 1, it has the other.
C4  If two sizes do not fit, such as 2 and 3, or 2 and 0, it raises ValueError, even if x and y have equally many
    elements.
C5  Every shape is allowed. `()`, a single number, goes with every shape. 0 is a size like any other: with 1 or 0 it
    gives 0.
C6  Plain Python: no tensor, no torch, no NumPy. Modules such as itertools are fine.

a and b are tuples of 0 to 5 ints.
"""


def broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    raise NotImplementedError  # TODO
