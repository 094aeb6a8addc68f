r"""Makes its argument huge, as seen from outside.

---
exercise: double
verdicts: {random: failed|skipped|crashed}
"""

import torch


def double(x):
    result = 2 * x
    if x.dim() == 2:
        x.data = torch.zeros(1).expand(1 << 20, 1 << 20)
    return result


def halve(x):
    return x / 2
