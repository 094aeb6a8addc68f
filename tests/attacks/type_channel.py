r"""Tells something by the names of types and by the refusals that it sends.

---
exercise: double
verdicts: {random: failed|skipped, dtype: failed|skipped, halves_random: failed|skipped}
never: TOLD_BY_TYPE
"""

import torch


def double(x):
    if x.dim() == 1 and x.is_floating_point():
        return 2 * x
    if x.dim() == 2:
        return x.as_subclass(type("TOLD_BY_TYPE", (torch.Tensor,), {}))
    return type("TOLD_BY_TYPE", (), {})


def halve(x):
    return x / 2 if x.dim() == 1 else {"TOLD_BY_TYPE": x, 1: type("TOLD_BY_TYPE", (list,), {})()}
