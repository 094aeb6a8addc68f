"""Transpose without moving

A photo is turned on its side by swapping two numbers of its metadata. None of its pixels moves. Make such views
yourself, and a copy for code that needs the memory in reading order.

    t = torch.zeros(2, 3, 4)       strides (12, 4, 1)
    swap(t, 0, 2)                  shape (4, 3, 2), strides (1, 4, 12), same memory

C1  `swap(t, a, b)` returns a view of t with dims a and b swapped, made with `as_strided` and no other function of
    PyTorch; `t.shape`, `t.stride()` and the like are fine. t has at least one dim and any strides and offset; a and b
    are dims of t, and may be negative.
C2  `flip_last(t)` returns a view of t with its last two dims swapped. If t has fewer than two dims, it returns t itself
    or a view that looks like t. It causes no warning. (`.T` reverses all dims.)
C3  `packed(t)` always returns a contiguous copy of t, of its dtype, with memory of its own. (`clone()` keeps the order
    of a transpose in memory.)
C4  `swap` and `flip_last` make no new memory, and their views contain no element that t does not contain.
C5  t is not changed.
"""

import torch


def swap(t: torch.Tensor, a: int, b: int) -> torch.Tensor:
    raise NotImplementedError  # TODO


def flip_last(t: torch.Tensor) -> torch.Tensor:
    return t.T  # TODO


def packed(t: torch.Tensor) -> torch.Tensor:
    return t.clone()  # TODO
