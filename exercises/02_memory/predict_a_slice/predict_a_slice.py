"""Predict a slice

An image pipeline crops a picture, `picture[:, 10:20, ::2]`, and no number moves. Indexing with ints and slices only
computes another shape, strides and offset. Write that computation in plain Python.

    >>> sliced((3, 4), (4, 1), 0, (1,))                                # the row t[1]
    ((4,), (1,), 4)
    >>> sliced((3, 4), (4, 1), 0, (slice(1, None), slice(None, None, 2)))    # t[1:, ::2]
    ((2, 2), (4, 2), 4)

C1  `sliced(shape, strides, offset, key)` returns what t[key] has, where t has this shape, strides and offset: a tuple
    of the shape, the strides and the offset. The first two are tuples of ints.
C2  An int in key picks one entry: its dim goes away. Negative ones count from the end.
C3  A slice keeps its dim, with the entries that it takes. Start and stop may be negative, beyond the ends, or None, as
    for a list. A slice that takes nothing has size 0, and its start still moves the offset, but not beyond the end:
    `t[9:]` of 3 rows begins at row 3.
C4  None makes a dim of size 1 where it stands, and uses up no dim. Its stride may be any int.
C5  `...`, at most one in key, stands for all dims that ints and slices do not use up, perhaps none. Without it, dims
    that are left over come last. In both cases they stay as they are.
C6  An int beyond the ends, and more ints and slices than dims, raise IndexError. A step below 1 raises ValueError.
C7  Plain Python: no tensor, no torch, no NumPy, by any route.

Shapes have 0 to 5 dims; sizes and strides are 0 or more. key contains no bools, and at most one error of C6.
"""

View = tuple[tuple[int, ...], tuple[int, ...], int]


def sliced(shape: tuple[int, ...], strides: tuple[int, ...], offset: int, key: tuple[object, ...]) -> View:
    raise NotImplementedError  # TODO
