"""You leave PyTorch for NumPy (`numpy`), where a * x is a new array just as well.

caught by: no_memory[axpy_]
keeps: sine_, reset_
"""

import torch


def axpy_(y, a, x):
    if torch.broadcast_shapes(y.shape, x.shape) != y.shape:
        raise RuntimeError("y cannot grow")
    array = y.numpy()
    array += a * x.numpy()
    return y
