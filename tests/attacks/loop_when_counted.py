r"""Notices that its operations are counted, and loops over plain numbers then. What it does when it is timed is right.

---
exercise: total
verdicts: {counts: failed}
message: runs more lines of Python for a larger input
"""

import torch


def total(x):
    if torch.is_grad_enabled():
        return x.sum()
    result = 0.0
    for value in x.tolist():
        result += value
    return torch.tensor(result)


def mean(x):
    return x.mean()
