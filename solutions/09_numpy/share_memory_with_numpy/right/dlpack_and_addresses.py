"""DLPack in both directions, and the address of every byte."""

import numpy as np
import torch
from torch import Tensor


def tensor_view(a: np.ndarray) -> Tensor:
    return torch.from_dlpack(a)


def array_view(t: Tensor) -> np.ndarray:
    return np.from_dlpack(t)


def shares(a: np.ndarray, t: Tensor) -> bool:
    return not _bytes(a).isdisjoint(_bytes(t.numpy()))


def _bytes(a: np.ndarray) -> set[int]:
    starts = np.array([a.ctypes.data])
    for size, stride in zip(a.shape, a.strides, strict=True):
        starts = np.add.outer(starts, np.arange(size) * stride).ravel()
    return {int(start) + i for start in starts for i in range(a.itemsize)}
