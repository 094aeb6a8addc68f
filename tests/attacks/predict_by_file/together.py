r"""Lets a file of its own ask PyTorch.

---
exercise: together
verdicts: {alone: failed}
"""

from asks import together  # noqa: F401


def slope(f):
    return f(1.0) - f(0.0)
