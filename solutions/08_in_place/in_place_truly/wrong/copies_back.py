"""You write the right numbers into y at the end, and make two tensors on the way there.

caught by: no_memory[axpy_]
keeps: sine_, reset_
"""


def axpy_(y, a, x):
    y[...] = y + a * x
    return y
