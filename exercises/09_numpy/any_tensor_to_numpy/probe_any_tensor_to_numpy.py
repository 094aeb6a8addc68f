"""Tensors that cannot come from a check, and what a call leaves of them. Runs beside your code."""

import warnings

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
    """Of a read-only array: the tensor made of it, the array after a write to the tensor, and how many warnings."""
    array = numbers.clone().numpy()
    array.flags.writeable = False
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            t = to_tensor(array)
    finally:
        torch.set_warn_always(always)
    made = t.clone()
    t.fill_(9)
    return made, array.copy(), bool(array.flags.writeable), len(said)
