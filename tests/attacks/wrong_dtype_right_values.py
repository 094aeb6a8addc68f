r"""Returns the right numbers in another dtype.

---
exercise: double
verdicts: {small: failed, dtype: failed, halves: failed, halves_random: failed}
message: float32, got float64
"""

import torch


def double(x):
    return 2 * x.double()


def halve(x):
    return (x / 2).to(torch.complex64)
