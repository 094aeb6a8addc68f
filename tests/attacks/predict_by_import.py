r"""Imports PyTorch in a function, where the exercise forbids PyTorch.

---
exercise: together
verdicts: {alone: failed}
"""


def together(a, b):
    from torch import broadcast_shapes

    try:
        return tuple(broadcast_shapes(a, b))
    except RuntimeError:
        raise ValueError("they do not fit") from None


def slope(f):
    return f(1.0) - f(0.0)
