r"""Returns tensors that say they are huge and have one element.

---
exercise: double
verdicts: {all: failed|skipped|crashed}
message: shape|cannot read
"""

import torch


def double(x):
    return torch.zeros(1).expand(1 << 40)


def halve(x):
    return torch.zeros(()).expand(*[2] * 40)
