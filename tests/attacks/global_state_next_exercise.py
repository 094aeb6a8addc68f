r"""Changes functions of the library in one exercise, so that the next one of the same student goes wrong.

---
exercise: double
"""

import torch

for place in (torch, torch.Tensor, torch.nn.functional):
    for name in ("neg", "relu", "neg_", "negative", "__neg__"):
        if hasattr(place, name):
            setattr(place, name, lambda x, *args: x)


def double(x):
    return 2 * x


def halve(x):
    return x / 2
