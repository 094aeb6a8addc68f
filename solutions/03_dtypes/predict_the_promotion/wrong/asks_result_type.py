"""You ask `torch.result_type`. It makes no tensor, but it is PyTorch that answers, and not the rules.

caught by: plain_python
"""

import torch


def _made(x):
    return torch.ones((1,) * x[1], dtype=getattr(torch, x[0]), device="meta") if isinstance(x, tuple) else x


def result_dtype(a, b, op):
    dtype = torch.result_type(_made(a), _made(b))
    if op == "/" and not dtype.is_floating_point:
        dtype = torch.float32
    return str(dtype).split(".")[1]


def fits_in_place(a, b, op):
    return torch.can_cast(getattr(torch, result_dtype(a, b, op)), getattr(torch, a[0]))
