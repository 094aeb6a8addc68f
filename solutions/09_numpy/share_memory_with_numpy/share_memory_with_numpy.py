"""also right: detached"""

import numpy as np
import torch


def tensor_view(a: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(a)


def array_view(t: torch.Tensor) -> np.ndarray:
    return t.numpy()


def shares(a: np.ndarray, t: torch.Tensor) -> bool:
    return np.shares_memory(a, t.numpy())
