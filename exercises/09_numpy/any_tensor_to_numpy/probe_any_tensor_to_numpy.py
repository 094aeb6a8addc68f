"""Tensors that cannot come from a check. Runs beside your code."""

import numpy as np


def of_made(to_numpy, name, numbers):
    """The array made of a tensor of some kind, and whether it shares its memory."""
    t = {
        "result": lambda: numbers.clone().requires_grad_() * 1,
        "conj": lambda: numbers.clone().conj(),
        "imag": lambda: numbers.clone().conj().imag,
    }[name]()
    array = to_numpy(t)
    same = isinstance(array, np.ndarray) and array.__array_interface__["data"][0] == t.data_ptr()
    return array, same
