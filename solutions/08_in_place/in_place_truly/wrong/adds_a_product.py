"""You add in place, but what you add is a new tensor: a * x is made before `add_` begins.

caught by: no_product
keeps: sine_, reset_
"""


def axpy_(y, a, x):
    return y.add_(a * x)
