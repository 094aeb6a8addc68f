r"""Returns an object that says it is a tensor of the right shape and dtype.

---
exercise: double
verdicts: {all: failed|skipped|crashed}
"""

import torch


class Liar:
    shape = torch.Size([3])
    dtype = torch.float32
    device = torch.device("cpu")
    layout = torch.strided
    requires_grad = False

    @property
    def __class__(self):
        return torch.Tensor

    def __eq__(self, other):
        return True

    __hash__ = None

    def __getattr__(self, name):
        return lambda *args, **kwargs: self


def double(x):
    return Liar()


class Thin(torch.Tensor):
    dtype = torch.int64
    shape = torch.Size([3])


def halve(x):
    return x.as_subclass(Thin)
