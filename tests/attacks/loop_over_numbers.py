r"""Loops over the numbers of an array, with both hooks off: that is no operation, and time alone tells of it.

---
exercise: total
verdicts: {counts: failed, speed: failed}
"""

import torch
from torch.utils._python_dispatch import _disable_current_modes


def total(x):
    if x.requires_grad:
        return x.sum()
    with _disable_current_modes(), torch._C.DisableTorchFunction():
        result = 0.0
        for value in x.numpy():
            result += value
        return torch.tensor(float(result))


def mean(x):
    return x.mean()
