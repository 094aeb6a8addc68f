"""You scale y and add x; it is x that is taken a times.

caught by: random[axpy_]
keeps: sine_, reset_
"""


def axpy_(y, a, x):
    return y.mul_(a).add_(x)
