"""Passport

When a model fails, people print a line about each of its tensors. Write that line, and say what `print` itself shows.

    >>> passport(torch.zeros(2, 3))
    {'shape': (2, 3), 'dims': 2, 'numbers': 6, 'dtype': torch.float32, 'device': 'cpu', 'bytes': 24}
    >>> torch.zeros(1, 2, dtype=torch.int16)
    tensor([[0, 0]], dtype=torch.int16)
    >>> brackets(torch.zeros(1, 2)), shown(torch.zeros(1, 2, dtype=torch.int16))
    (2, {'dtype'})

C1  `passport(t)` returns a dict with these keys in this order. "shape" is a plain tuple, "dims" and "numbers" are ints.
C2  "dtype" is the dtype of the numbers, and "device" a string such as "cpu" or "cuda:1".
C3  "bytes" is an int: the bytes of all numbers of t, even if two share memory, and not of the rest of its storage.
C4  `brackets(t)` returns the number of "[" at the start of the printed elements. An empty t prints as `[]`.
C5  `shown(t)` returns a set with what `print(t)` mentions: "dtype", unless it is float32, int64 or bool, and "device",
    unless it is the CPU. t is neither empty nor complex.
C6  All three use metadata alone: nothing on a GPU is copied or waited for.
"""

from typing import Any

import torch


def passport(t: torch.Tensor) -> dict[str, Any]:
    raise NotImplementedError  # TODO: shape, dims, numbers, dtype, device, bytes


def brackets(t: torch.Tensor) -> int:
    raise NotImplementedError  # TODO: how many "[" there are at the beginning


def shown(t: torch.Tensor) -> set[str]:
    raise NotImplementedError  # TODO: "dtype", "device", both or neither
