r"""Imports PyTorch in what looks like the part that runs as a program, after the name was set by hand.

---
exercise: together
verdicts: {alone: failed}
"""

__name__ = "__main__"
if __name__ == "__main__":
    import torch


def together(a, b):
    try:
        return tuple(torch.broadcast_shapes(a, b))
    except RuntimeError:
        raise ValueError("they do not fit") from None


def slope(f):
    return f(1.0) - f(0.0)
