"""Passport

When a model fails, people print a line about each of its tensors. Write that line, and say what `print` itself shows.

    >>> passport(torch.zeros(2, 3))
    {'shape': (2, 3), 'dims': 2, 'numbers': 6, 'dtype': torch.float32, 'device': 'cpu', 'bytes': 24}
    >>> torch.zeros(1, 2, dtype=torch.int16)
    tensor([[0, 0]], dtype=torch.int16)
    >>> brackets(torch.zeros(1, 2)), shown(torch.zeros(1, 2, dtype=torch.int16))
    (2, {'dtype'})

C1  `passport(t)` returns a dict with these six keys, in this order. "shape" is a plain tuple of ints, "dims" says how
    many dims there are, and "numbers" how many numbers; both are ints.
C2  "dtype" is the dtype of the numbers, and "device" the name of the device, a string such as "cpu" or "cuda:1".
C3  "bytes" says how many bytes the numbers of t take, as an int. Each counts, even if two share memory. The rest of the
    storage and the Python object do not count.
C4  `brackets(t)` returns how many "[" a print of t begins with: one for each dim. A t without numbers prints as `[]`.
C5  `shown(t)` returns a set of what the print names beside the numbers: "dtype", "device", "size", or none of them. It
    names the device unless that is the CPU, and the dtype unless that is float32, int64 or bool. If t has no numbers,
    it also names int64, bool, and the size unless t has one dim.
C6  All three use metadata alone: nothing on a GPU is copied or waited for. If you break this rule, you get at most 4
    points; if you break C1, C3, C4 or C5, at most 6, and at most 4 if a shown check of C4 or C5 fails.

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
