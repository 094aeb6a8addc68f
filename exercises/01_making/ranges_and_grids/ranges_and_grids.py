"""Ranges and grids

`arange(start, stop, step)` counts in steps and leaves the stop out, if all are ints. `linspace(lo, hi, n)` has n
numbers, and both ends if n is above 1. You search for a learning rate in powers of ten, which `logspace` gives.

    >>> evens(2, 3)
    tensor([[ 0,  2,  4],
            [ 6,  8, 10]])
    >>> grid(0.0, 1.0, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    >>> ladder(-3, 1)
    tensor([1.0000e-03, 1.0000e-02, 1.0000e-01, 1.0000e+00, 1.0000e+01])

C1  `evens(n, m)` returns the even numbers 0, 2, 4 and so on in n rows of m, row by row, as int64.
C2  `grid(lo, hi, n)` returns n float32 numbers at equal distances, from lo to hi, both included; n is at least 2.
C3  `ladder(a, b)` returns the powers of ten from 10**a to 10**b, for ints a <= b, as float32.
C4  `filled(n, m, value)` returns n rows of m entries that all are value: int64 for an int, float32 for a float.
C5  `scaled_identity(n, c)` returns n rows of n float32 numbers: c on the diagonal, 0 elsewhere.

n and m may be 0, except n in C2. a and b are from -37 to 38, c is finite in float32, and value is never a bool.
"""

import torch


def evens(n: int, m: int) -> torch.Tensor:
    raise NotImplementedError  # TODO: 0, 2, 4, ... in n rows


def grid(lo: float, hi: float, n: int) -> torch.Tensor:
    raise NotImplementedError  # TODO: n numbers from lo to hi


def ladder(a: int, b: int) -> torch.Tensor:
    raise NotImplementedError  # TODO: powers of ten


def filled(n: int, m: int, value: float) -> torch.Tensor:
    raise NotImplementedError  # TODO: the same value everywhere


def scaled_identity(n: int, c: float) -> torch.Tensor:
    raise NotImplementedError  # TODO: c on the diagonal
