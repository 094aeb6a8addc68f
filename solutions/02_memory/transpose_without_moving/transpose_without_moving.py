"""also right: detached"""

import torch


def swap(t: torch.Tensor, a: int, b: int) -> torch.Tensor:
    sizes, strides = list(t.shape), list(t.stride())
    sizes[a], sizes[b] = sizes[b], sizes[a]
    strides[a], strides[b] = strides[b], strides[a]
    return torch.as_strided(t, sizes, strides, t.storage_offset())


def flip_last(t: torch.Tensor) -> torch.Tensor:
    return t.mT if t.ndim >= 2 else t.view_as(t)


def packed(t: torch.Tensor) -> torch.Tensor:
    return t.clone(memory_format=torch.contiguous_format)
