r"""Imports PyTorch under a condition whose name says that it does not hold.

---
exercise: together
verdicts: {alone: failed}
"""

TYPE_CHECKING = 1
if TYPE_CHECKING:
    import torch


def together(a, b):
    try:
        return tuple(torch.broadcast_shapes(a, b))
    except RuntimeError:
        raise ValueError("they do not fit") from None


def slope(f):
    return f(1.0) - f(0.0)
