"""Share memory with NumPy

A camera driver fills NumPy arrays, and your model wants tensors. Copying every picture would cost time and memory.
Let both sides look at the same bytes instead.

C1  `tensor_view(a)` returns a tensor with the shape and the numbers of the array a.
C2  `array_view(t)` returns a NumPy array with the shape and the numbers of the tensor t.
C3  Neither function copies: a write to the argument shows in the result, and a write to the result shows in the
    argument. This also holds if the argument is a slice or a transpose.
C4  The dtype stays: a float64 array becomes a float64 tensor, a uint8 tensor becomes a uint8 array.
C5  `shares(a, t)` returns True if at least one element of the array a lies in the same bytes of memory as an element
    of the tensor t, so that a write to one of them changes the other. Otherwise it returns False. Equal numbers in
    two places do not count. Neither do windows on one array without a common element, such as even and odd columns.
C6  `shares` only looks: afterwards a and t are as they were.

You may rely on this: arrays are writable and have no negative strides, tensors are on the CPU and need no gradient,
and every dtype exists on both sides. Change the lines marked TODO; add helper functions if you like.
"""

import numpy as np
import torch


def tensor_view(a: np.ndarray) -> torch.Tensor:
    raise NotImplementedError  # TODO: a tensor on the memory of a


def array_view(t: torch.Tensor) -> np.ndarray:
    raise NotImplementedError  # TODO: an array on the memory of t


def shares(a: np.ndarray, t: torch.Tensor) -> bool:
    raise NotImplementedError  # TODO: does a write to one change the other?
