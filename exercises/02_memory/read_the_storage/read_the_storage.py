"""Read the storage

A slice of a picture shows a few of its pixels; the others are still there, in the storage behind it. Look at all of
them, and write to one that the slice does not show.

    a = torch.arange(6.).reshape(2, 3);  t = a[:, 1]       t shows 1 and 4
    storage_numbers(t)                                     [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    poke_(t, 5, 9.)                                        now a[1, 2] is 9

C1  `storage_numbers(t)` returns a list of all numbers in the storage of t, in the order of memory, those before and
    between the elements of t too. They are read in the dtype of t: floats for a floating dtype, ints for an integer.
    t has one of these, requires no gradient, and its storage holds a whole number of elements.
C2  `poke_(t, k, v)` writes v, which t's dtype can hold, to place k of that list, into the storage itself, and returns
    t.
C3  A place that the storage does not have, such as -1, raises IndexError.
C4  No warning, nor a silenced one. You may read that `t.storage()` does it; in fact it is deprecated, and warns. Its
    successor `t.untyped_storage()` is a row of bytes: place 3 of it is the fourth byte, not the fourth number.
C5  Nothing else is changed.
"""

import torch


def storage_numbers(t: torch.Tensor) -> list:
    return t.flatten().tolist()  # TODO: all numbers of the storage


def poke_(t: torch.Tensor, k: int, v: float) -> torch.Tensor:
    raise NotImplementedError  # TODO
