"""You changed the argument; make a new tensor.

caught by: random
"""


def double(x):
    return x.mul_(2)


def double_(x):
    return x.mul_(2)
