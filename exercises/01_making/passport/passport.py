"""Passport

When a model fails, people print a line about each of its tensors. Write that line, and what `print` itself shows.

    >>> passport(torch.zeros(2, 3))
    {'shape': (2, 3), 'dims': 2, 'numbers': 6, 'dtype': torch.float32, 'device': 'cpu', 'bytes': 24}
    >>> torch.zeros(1, 2, dtype=torch.int16)
    tensor([[0, 0]], dtype=torch.int16)
    >>> brackets(torch.zeros(1, 2)), shown(torch.zeros(1, 2, dtype=torch.int16))
    (2, {'dtype'})

C1  `passport(t)` returns a dict with these six keys, in this order. "shape" is a plain tuple of ints, "dims" says how
    many dims there are, and "numbers" how many numbers; both are ints.
C2  "dtype" is the dtype of the numbers, and "device" the name of the device, a string, with the index if it has one.
C3  "bytes" is the memory that the numbers of t take, as an int, as if no two shared memory: only those of t, not what
    else is in its storage, nor what Python needs for the object.
C4  `brackets(t)` returns how many "[" open a print of t: one for each dim, but no numbers print as `[]`.
C5  `shown(t)` returns a set of what the print names beside the numbers: "dtype", "device", "size", or none of them. It
    names a device other than the CPU, and a dtype other than float32, int64 and bool. For a t without numbers, it names
    every dtype but float32, and the size, unless t has one dim.
C6  All three use metadata alone: nothing on a GPU is copied or waited for. Otherwise, you get at most 4 points; if you
    break C1, C3, C4 or C5, at most 6, and at most 4 if a shown check of C4 or C5 fails.

t has floats, ints or bools, requires no gradient, and does not lie on the device "meta" in C4 and C5.
"""

from typing import Any

import torch


def passport(t: torch.Tensor) -> dict[str, Any]:
    raise NotImplementedError  # TODO: shape, dims, numbers, dtype, device, bytes


def brackets(t: torch.Tensor) -> int:
    raise NotImplementedError  # TODO: how many "[" there are at the beginning


def shown(t: torch.Tensor) -> set[str]:
    raise NotImplementedError  # TODO: "dtype", "device", "size", or none of them
