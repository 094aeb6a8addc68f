"""You `detach` x before you add. The total is right, but nothing leads from it back to x: the gradient is lost.

caught by: no_loop
keeps: loop_sum, loop_error
"""


def accurate_sum(x):
    return x.detach().double().sum().to(x.dtype)
