"""You make tensors, as with `ones`, and let PyTorch answer. The task is to write down the rules yourself.

caught by: plain_python
"""

import torch


def _made(x):
    return torch.ones((1,) * x[1], dtype=getattr(torch, x[0])) if isinstance(x, tuple) else x


def result_dtype(a, b, op):
    result = _made(a) + _made(b) if op == "+" else _made(a) / _made(b)
    return str(result.dtype).split(".")[1]


def fits_in_place(a, b, op):
    return torch.can_cast(getattr(torch, result_dtype(a, b, op)), getattr(torch, a[0]))
