"""Writes all zeros and all ones into the array, looks at the tensor, and puts back what was there."""

import numpy as np
import torch
from torch import Tensor


def tensor_view(a: np.ndarray) -> Tensor:
    return torch.as_tensor(a)


def array_view(t: Tensor) -> np.ndarray:
    return t.detach().cpu().numpy()


def shares(a: np.ndarray, t: Tensor) -> bool:
    other = array_view(t)
    kept = a.copy()
    seen = []
    for value in (0, 1):
        a[...] = value
        seen.append(other.tobytes())
        a[...] = kept
    return seen[0] != seen[1]
