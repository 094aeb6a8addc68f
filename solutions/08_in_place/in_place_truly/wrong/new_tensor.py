"""You return a new tensor, which has the right numbers; the caller's y has its old ones.

caught by: windows[axpy_]
breaks: C2, C3, C4
keeps: sine_, reset_
"""


def axpy_(y, a, x):
    return y + a * x
