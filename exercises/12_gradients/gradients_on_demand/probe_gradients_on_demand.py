"""Functions to take gradients of. Runs beside your code."""

import torch


def function(term):
    """The sum of a term such as "x * y", as a function of x and y that counts its calls."""

    def f(x, y=None):
        f.calls += 1
        return eval(term, {"x": x, "y": y}).sum()

    f.calls = 0
    return f


def beside_float64(grad_of, *args):
    """The gradients while new tensors are float64 by default."""
    torch.set_default_dtype(torch.float64)
    try:
        return grad_of(*args)
    finally:
        torch.set_default_dtype(torch.float32)
