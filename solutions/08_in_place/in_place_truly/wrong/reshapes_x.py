"""You give x the shape of y by force: a row that should be stretched is refused, a transpose gets mixed up.

caught by: broadcast
keeps: sine_, reset_
"""


def axpy_(y, a, x):
    if x.dim() > y.dim():
        raise RuntimeError("y cannot grow")
    return y.add_(x.view(y.shape), alpha=a)
