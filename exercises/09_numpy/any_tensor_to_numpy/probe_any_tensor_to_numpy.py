"""Tensors that cannot come from a check. Runs beside your code."""

import numpy as np


def of_made(to_numpy, name, numbers):
    """The array made of a tensor of some kind, whether it shares its memory, and whether the tensor keeps its graph."""
    t = {
        "result": lambda: numbers.clone().requires_grad_() * 1,
        "conj": lambda: numbers.clone().conj(),
        "imag": lambda: numbers.clone().conj().imag,
    }[name]()
    graph = t.grad_fn
    array = to_numpy(t)
    same = isinstance(array, np.ndarray) and array.__array_interface__["data"][0] == t.data_ptr()
    return array, same, t.grad_fn is graph
