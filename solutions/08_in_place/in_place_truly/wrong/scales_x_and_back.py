"""You scale x in place and divide it again; others see it meanwhile, and rounding may leave other numbers.

caught by: x_untouched
keeps: sine_, reset_
"""


def axpy_(y, a, x):
    x.mul_(a)
    y.add_(x)
    x.div_(a)
    return y
