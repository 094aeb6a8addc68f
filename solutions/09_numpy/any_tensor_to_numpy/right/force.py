"""force=True; torch.tensor where a copy is needed."""

import numpy as np
import torch


def to_numpy(t):
    if t.dtype == torch.bfloat16:
        return t.cpu().to(torch.float32).numpy(force=True)
    return t.numpy(force=True)


def to_tensor(a):
    if a.flags.writeable and min(a.strides, default=0) >= 0:
        return torch.as_tensor(a)
    return torch.from_numpy(np.array(a, order="C"))
