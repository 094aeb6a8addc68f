"""Through NumPy, with the dtype put right."""

import numpy as np
import torch


def to_tensor(readings):
    a = np.array(readings)
    t = torch.from_numpy(a)
    return t.float() if t.is_floating_point() or a.size == 0 else t


def to_python(t):
    return t.numpy().tolist()
