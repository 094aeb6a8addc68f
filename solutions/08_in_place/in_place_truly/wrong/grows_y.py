"""You give y the larger shape where it is too small, behind the back of every window on its old memory.

caught by: no_growth
keeps: sine_, reset_
"""

import torch


def axpy_(y, a, x):
    shape = torch.broadcast_shapes(y.shape, x.shape)
    if shape != y.shape:
        y.set_(y.expand(shape).clone())
    return y.add_(x, alpha=a)
