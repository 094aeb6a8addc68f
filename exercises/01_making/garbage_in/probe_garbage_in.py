import torch
from torch.utils._python_dispatch import TorchDispatchMode

UNSET = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"}


class Zeros(TorchDispatchMode):
    """Fills uninitialized memory with zeros."""

    @classmethod
    def _should_skip_dynamo(cls):
        """Keep PyTorch from importing its compiler, which takes seconds, at the first operator."""
        return False

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        result = operator(*args, **(kwargs or {}))
        return result.zero_() if operator.overloadpacket.__name__ in UNSET else result


def with_luck(function, *args):
    """The result where all uninitialized memory happens to be 0."""
    with torch.no_grad(), Zeros():
        return function(*args)
