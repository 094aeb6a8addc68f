"""You write `y += a * x`, which adds in place, and makes a whole tensor for the product before.

caught by: no_memory[axpy_]
keeps: sine_, reset_
"""


def axpy_(y, a, x):
    y += a * x
    return y
