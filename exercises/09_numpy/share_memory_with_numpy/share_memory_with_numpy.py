"""Share memory with NumPy

A camera driver fills NumPy arrays, and your model wants tensors. Copying every picture would cost time and memory.
Let both sides look at the same bytes instead.

C1  `tensor_view(a)` returns a tensor with the shape and the numbers of the array a. `array_view(t)` returns a NumPy
    array with those of the tensor t.
C2  The dtype stays: a float64 array becomes a float64 tensor, a uint8 tensor becomes a uint8 array.
C3  Neither function copies: a write to any element of the argument shows at the same place in the result, and the other
    way round. This also holds for slices, transposes and 0-dim arguments. If t is an expanded tensor, a write to the
    one that was expanded shows in the array.
C4  `shares(a, t)` returns True if at least one byte belongs to an element of the array a and to an element of the
    tensor t. Otherwise it returns False. Shapes and dtypes may differ. Equal numbers in two places do not count, nor do
    views of one array without a common element, such as even and odd columns.
C5  `shares` changes neither a nor t, not even for a moment: it may be given an array that is read-only.

Otherwise arrays are writable. They have no negative strides; tensors are on the CPU, require no gradient and do not
come from `conj()`; every dtype exists on both sides.
"""

import numpy as np
import torch


def tensor_view(a: np.ndarray) -> torch.Tensor:
    raise NotImplementedError  # TODO: a tensor on the memory of a


def array_view(t: torch.Tensor) -> np.ndarray:
    raise NotImplementedError  # TODO: an array on the memory of t


def shares(a: np.ndarray, t: torch.Tensor) -> bool:
    raise NotImplementedError  # TODO: can a write to one change the other?
