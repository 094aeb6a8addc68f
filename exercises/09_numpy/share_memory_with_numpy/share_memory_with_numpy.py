"""Share memory with NumPy

A camera driver fills NumPy arrays, and your model wants tensors. Copying every picture would cost time and memory.
Let both sides look at the same bytes instead.

C1  `tensor_view(a)` returns a tensor with the shape and the numbers of the array a.
C2  `array_view(t)` returns a NumPy array with the shape and the numbers of the tensor t.
C3  Neither function copies: a write to any element of the argument shows at the same place in the result, and the
    other way round. This also holds for slices and transposes, for 0-dim arrays and tensors, and for an expanded
    tensor: a write to the tensor that was expanded shows in the array.
C4  The dtype stays: a float64 array becomes a float64 tensor, a uint8 tensor becomes a uint8 array.
C5  `shares(a, t)` returns True if at least one byte of memory belongs to an element of the array a and to an element
    of the tensor t, so that a write to one can change the other. Otherwise it returns False. Shapes and dtypes may
    differ. Equal numbers in two places do not count. Neither do views of one array without a common element, such as
    even and odd columns, or the left and the right half.
C6  After `shares`, a and t are as they were, and may be written to. To write to them and restore the old numbers is
    allowed, though not wise.

Arrays are writable and have no negative strides; tensors are on the CPU, require no gradient and do not come from
`conj()`; every dtype exists on both sides. If you break C3, you get at most 4 points; if you break C1, C2, C5 or C6, at
most 6, and at most 4 if a shown check of these fails.
"""

import numpy as np
import torch


def tensor_view(a: np.ndarray) -> torch.Tensor:
    raise NotImplementedError  # TODO: a tensor on the memory of a


def array_view(t: torch.Tensor) -> np.ndarray:
    raise NotImplementedError  # TODO: an array on the memory of t


def shares(a: np.ndarray, t: torch.Tensor) -> bool:
    raise NotImplementedError  # TODO: can a write to one change the other?
