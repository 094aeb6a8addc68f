"""The memory bill

A million measurements take eight times as many bytes in a Python list as in a float32 tensor. And a slice of ten
numbers may keep a gigabyte alive, because a view holds the whole storage. Compute what things cost.

    boxed_bytes([0.5, 1.5])                          gives  sys.getsizeof of the list, and 24 for each float
    tensor_bytes((2, 3), torch.float64)              gives  48
    held_bytes(torch.zeros(1000)[:10])               gives  4000

C1  `boxed_bytes(xs)` returns the bytes of a list of different floats: those of the list plus those of each float object
    in it, as `sys.getsizeof` reports them. xs may be empty.
C2  `tensor_bytes(shape, dtype)` returns the bytes of the elements of a tensor of that shape and dtype. It makes no
    tensor of that shape, not even on the device "meta", because the number of bytes may be larger than PyTorch can
    count. The shape `()` is one element; a size of 0 leaves none.
C3  `held_bytes(t)` returns the bytes that t keeps alive: those of its whole storage.
C4  `compact(t)` returns t itself if `t.nbytes` is at least half of the bytes that t holds. (`t.nbytes` counts an
    element as often as it is shown, as in an expanded t.) Otherwise it returns a copy of the same shape and dtype, with
    a storage of its own and no spare byte, so that t's memory can be released. t is not changed. It requires no
    gradient.
"""

import torch


def boxed_bytes(xs: list[float]) -> int:
    raise NotImplementedError  # TODO


def tensor_bytes(shape: tuple[int, ...], dtype: torch.dtype) -> int:
    raise NotImplementedError  # TODO


def held_bytes(t: torch.Tensor) -> int:
    return t.nbytes  # TODO: the bytes of what it looks at, not of what it shows


def compact(t: torch.Tensor) -> torch.Tensor:
    return t.contiguous()  # TODO: a slice may be contiguous and yet hold a large storage
