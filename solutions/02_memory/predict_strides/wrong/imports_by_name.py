"""You import PyTorch by its name, and ask a tensor; work the strides out from the shape.

caught by: plain_python
keeps: transposed
"""

from importlib import import_module


def contiguous_strides(shape):
    return import_module("torch").empty(shape, device="meta").stride()
