r"""Returns one element as 10^8, in a form that must be copied to be read: the grader's memory is to pay for it.

---
exercise: double
verdicts: {all: failed|skipped|crashed}
"""

import torch


def double(x):
    return torch.zeros(1, dtype=torch.complex64).expand(100_000_000).conj()


def halve(x):
    return torch.zeros(1, dtype=torch.bool).expand(10_000, 10_000)
