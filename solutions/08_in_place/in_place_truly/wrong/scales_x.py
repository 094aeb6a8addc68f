"""You scale x in place: no new memory, but x belongs to the caller.

caught by: x_kept
keeps: sine_, reset_
"""


def axpy_(y, a, x):
    return y.add_(x.mul_(a))
