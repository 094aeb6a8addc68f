"""Predict the strides

A tensor is a view of a row of numbers in memory. Its strides say, for each dim, how many elements one step along that
dim moves on in memory. They follow from the shape by a short rule. Write that rule in plain Python.

C1  `contiguous_strides(shape)` returns the strides of a contiguous tensor of that shape, counted in elements: a tuple
    of ints, one for each dim. `(2, 5)` gives `(5, 1)` and `()` gives `()`.
C2  A size of 0 counts as 1: `(3, 0, 2)` gives `(2, 2, 1)`.
C3  `transposed(shape, strides, a, b)` returns what `t.transpose(a, b)` has, where t has this shape and these strides,
    contiguous or not: the pair `(shape, strides)`, a tuple of two tuples of ints. a and b may be the same dim.
C4  `a` and `b` may be negative: -1 is the last dim.
C5  A dim that t does not have raises IndexError, even if a and b are the same.
C6  Plain Python: no tensor, no torch, no NumPy, by any route. Modules such as math and itertools are fine, and so is
    any code under `if __name__ == "__main__":`.

Shapes have 0 to 5 dims; `transposed` gets at least 1. Keep the names and the parameters of the functions.
"""


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    raise NotImplementedError  # TODO


def transposed(
    shape: tuple[int, ...], strides: tuple[int, ...], a: int, b: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    raise NotImplementedError  # TODO
