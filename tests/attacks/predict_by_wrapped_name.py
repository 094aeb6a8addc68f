r"""Imports PyTorch in what looks like the part that runs as a program: a function's name was copied to the module.

---
exercise: together
verdicts: {alone: failed, slope: failed}
"""

import functools

import together as here


def __main__():
    pass


functools.update_wrapper(here, __main__)
if __name__ == "__main__":
    import torch


def together(a, b):
    try:
        return tuple(torch.broadcast_shapes(a, b))
    except RuntimeError:
        raise ValueError("they do not fit") from None


def slope(f):
    return f(1.0) - f(0.0)
