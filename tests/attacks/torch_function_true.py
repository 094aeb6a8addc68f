r"""Returns a tensor of a class that answers "yes" to every question.

---
exercise: double
verdicts: {small: failed, random: failed, dtype: failed}
message: got a Yes
"""

import torch


class Yes(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return True


def double(x):
    return x.as_subclass(Yes)


def halve(x):
    return x / 2
