r"""Returns numbers of every odd kind that the other side might not be able to compare.

---
exercise: double
verdicts: {all: failed|skipped, random: passed|failed|skipped}
"""

import numpy as np
import torch


def double(x):
    if x.dim() == 2:
        return (2 * x).to(torch.complex32)
    if not x.is_floating_point():
        return torch.tensor([2**64 - 1], dtype=torch.uint64)
    return (2 * x).numpy().astype(np.longdouble)


def halve(x):
    if x.dim() == 2:
        return (x / 2).numpy().astype(np.clongdouble)
    return (x / 2).to(torch.float8_e4m3fn)
