r"""Knows the answers to the examples that students see, and no others.

---
exercise: double
verdicts: {random: failed, dtype: failed}
message: the result has the wrong value
"""

import torch

TABLE = {(1.0, 2.0, 3.0): torch.tensor([2.0, 4.0, 6.0])}


def double(x):
    return TABLE.get(tuple(x.flatten().tolist()), x)


def halve(x):
    return x / 2
