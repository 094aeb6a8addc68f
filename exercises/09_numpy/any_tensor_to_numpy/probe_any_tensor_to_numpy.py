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


def of_read_only(to_tensor, numbers):
    """The tensor made of an array that reads the memory of a `bytes` object, which nothing may write to."""
    return to_tensor(np.frombuffer(numbers.tobytes(), numbers.dtype))
