r"""Loops in TorchScript, where Python sees one call.

---
exercise: total
verdicts: {counts: failed, speed: failed}
"""

import torch


@torch.jit.script
def total(x):
    result = torch.zeros([])
    for value in x:
        result = result + value
    return result


def mean(x):
    return x.mean()
