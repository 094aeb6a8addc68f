"""Tensors that cannot come from a check, and what a call leaves of them. Runs beside your code."""

import numpy as np
import torch


def of_made(to_numpy, name, numbers):
    """The array made of a tensor of some kind, and whether it shares its memory."""
    t = {
        "result": lambda: numbers.clone().requires_grad_() * 1,
        "parameter": lambda: torch.nn.Parameter(numbers.clone()),
        "conj": lambda: numbers.clone().conj(),
        "imag": lambda: numbers.clone().conj().imag,
    }[name]()
    array = to_numpy(t)
    same = isinstance(array, np.ndarray) and array.__array_interface__["data"][0] == t.data_ptr()
    return array, same


def stays(to_numpy, numbers):
    """Whether a leaf keeps `requires_grad` and `grad`, and a result its graph."""
    leaf = numbers.clone().requires_grad_()
    leaf.grad = torch.full_like(numbers, 7)
    result = leaf * 2
    made_by = result.grad_fn
    to_numpy(leaf), to_numpy(result)
    kept = leaf.requires_grad and leaf.grad is not None and bool((leaf.grad == 7).all())
    return kept and result.grad_fn is made_by and result.requires_grad


def read_only(to_tensor, numbers):
    """The tensor made of a read-only array, and the array after a write to the tensor."""
    array = numbers.clone().numpy()
    array.flags.writeable = False
    t = to_tensor(array)
    t.fill_(9)
    return t.dtype, t.shape, array.copy(), bool(array.flags.writeable)
