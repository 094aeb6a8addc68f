import math
import sys

import torch


def boxed_bytes(xs: list[float]) -> int:
    return sys.getsizeof(xs) + sum(sys.getsizeof(x) for x in xs)


def tensor_bytes(shape: tuple[int, ...], dtype: torch.dtype) -> int:
    return math.prod(shape) * dtype.itemsize


def held_bytes(t: torch.Tensor) -> int:
    return t.untyped_storage().nbytes()


def compact(t: torch.Tensor) -> torch.Tensor:
    if 2 * t.nbytes >= held_bytes(t):
        return t
    return t.clone(memory_format=torch.contiguous_format)
