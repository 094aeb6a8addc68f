"""From Python and back

A weather station sends its readings as plain Python: one number, a list for a day, a list of lists for a week. Turn
them into a tensor, and a tensor into plain Python again. Only one line of the code is wrong. Fix that line.

C1  `to_tensor(readings)` returns a tensor of the same numbers in the same places. One number gives a tensor of 0 dims,
    a list of n numbers gives shape (n,), a list of m lists of n numbers gives shape (m, n). n may be 0.
C2  The dtype follows the numbers: ints give int64, floats float32, bools bool, and a mix of ints and floats float32.
    If all are ints, they are exact, such as 16_777_217. Without numbers, any dtype is right. Bools are never mixed in.
C3  Rows of different lengths raise ValueError. (Either all rows are empty or none is.)
C4  `to_python(t)` returns a plain int, float or bool for a tensor of 0 dims. Otherwise it returns a list of them,
    nested as deep as t has dims, or up to a size of 0. The dtype of t is int64, float32 or bool.
C5  The readings and t are not changed.

    >>> to_tensor([[20, 21, 19], [18, 22, 23]])
    tensor([[20, 21, 19],
            [18, 22, 23]])
    >>> to_python(to_tensor(7))
    7
"""

import torch


def to_tensor(readings: object) -> torch.Tensor:
    return torch.Tensor(readings)  # TODO: look at what this line gives for 7, for [7] and for [16_777_217]


def to_python(t: torch.Tensor) -> object:
    return t.tolist()
