r"""Enters a mode that sees every operation of torch, and never leaves it.

---
exercise: double
"""

from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


class Seen(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class Dispatched(TorchDispatchMode):
    @classmethod
    def _should_skip_dynamo(cls):
        return False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


KEPT = Seen(), Dispatched()
KEPT[0].__enter__()
KEPT[1].__enter__()


def double(x):
    return 2 * x


def halve(x):
    return x / 2
