"""You return a new tensor, which has the right numbers; the caller's y has its old ones.

caught by: windows[axpy_]
keeps: sine_, reset_
"""


def axpy_(y, a, x):
    return y + a * x
