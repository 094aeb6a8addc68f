"""Read the storage

A slice of a picture shows a few of its pixels. The others are still in the storage behind it. Read all of them, and
write to one that the slice does not show.

    a = torch.arange(6.).reshape(2, 3);  t = a[:, 1]       t shows 1 and 4
    storage_numbers(t)                                     [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    poke_(t, 5, 9.)                                        now a[1, 2] is 9

C1  `storage_numbers(t)` returns a list of all numbers in the storage of t, in the order of memory, including those
    before and between the elements of t. They are read in the dtype of t: as floats if it is a floating-point dtype, as
    ints if it is an integer dtype. t has no other dtype and requires no gradient. Its storage holds a whole number of
    elements.
C2  `poke_(t, k, v)` writes v to place k of that list, into the storage itself, and returns t. The dtype of t can hold
    v, and nothing rounds it on the way.
C3  A place that the storage does not have, such as -1, raises IndexError.
C4  The functions cause no warning and silence none. (`t.storage()` is deprecated, and warns. `t.untyped_storage()` is a
    row of bytes: its place 3 is the fourth byte, not the fourth number.)
C5  Nothing else is changed.
"""

import torch


def storage_numbers(t: torch.Tensor) -> list:
    return t.flatten().tolist()  # TODO: all numbers of the storage


def poke_(t: torch.Tensor, k: int, v: float) -> torch.Tensor:
    raise NotImplementedError  # TODO
