"""You refuse an x of another shape; one that can be broadcast to y fits.

caught by: broadcast
keeps: sine_, reset_
"""


def axpy_(y, a, x):
    if x.shape != y.shape:
        raise RuntimeError("x and y have different shapes")
    return y.add_(x, alpha=a)
