r"""Asks for a tensor of tens of gigabytes, and when that is refused, for many small ones.

---
exercise: once
verdicts: {more: over_limit}
message: more memory than the exercise allows
"""

import torch


def more(x):
    kept = []
    try:
        kept.append(torch.ones(10**10))
    except RuntimeError:
        pass
    for _ in range(4096):
        kept.append(torch.ones(1 << 22))
    return x + 1


def less(x):
    return x - 1
