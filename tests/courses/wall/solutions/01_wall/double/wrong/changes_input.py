"""You changed the argument; make a new tensor.

caught by: random
"""


def double(x):
    return x.mul_(2)


def halve(x):
    return x / 2
