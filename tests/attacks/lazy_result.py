r"""Returns what would compute when it is touched.

---
exercise: double
verdicts: {all: failed}
message: to be a tensor, got
"""

from concurrent.futures import Future

import torch


class Lazy(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func(*(2 * arg for arg in args), **(kwargs or {}))


def double(x):
    return x.as_subclass(Lazy)


def halve(x):
    future = Future()
    future.set_result(x / 2)
    return future
