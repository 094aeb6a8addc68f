"""Transpose without moving

A photo is turned on its side by exchanging two numbers of its metadata; none of its pixels moves. Make such windows
yourself, and a copy where the memory must be in reading order.

    t = torch.zeros(2, 3, 4)       strides (12, 4, 1)
    swap(t, 0, 2)                  shape (4, 3, 2), strides (1, 4, 12), same memory

C1  `swap(t, a, b)` returns a view of t with dims a and b exchanged, made with `as_strided`: no `transpose` and its kin
    in `swap`. t has at least one dim and any strides and offset; a and b are dims of t, and may be negative.
C2  `flip_last(t)` returns a view of t with its last two dims exchanged. A 0-dim or 1-dim t has no two dims: return t
    itself, or a view that looks as t does. No warning. You may read that `.T` does it; in fact it turns all dims round.
C3  `packed(t)` returns a contiguous copy of t, of its dtype, with memory of its own, always. You may read that
    `clone()` gives that; in fact a clone keeps the order of t's strides.
C4  `swap` and `flip_last` make no new memory, and the window reaches nothing that t does not.
C5  t is not changed.
"""

import torch


def swap(t: torch.Tensor, a: int, b: int) -> torch.Tensor:
    raise NotImplementedError  # TODO


def flip_last(t: torch.Tensor) -> torch.Tensor:
    return t.T  # TODO


def packed(t: torch.Tensor) -> torch.Tensor:
    return t.clone()  # TODO
