"""You ask PyTorch, where you should predict.

caught by: alone
"""

import torch


def together(a, b):
    try:
        return tuple(torch.broadcast_shapes(a, b))
    except RuntimeError:
        raise ValueError("they do not fit") from None


def slope(f):
    return f(1.0) - f(0.0)
