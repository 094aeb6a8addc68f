"""You change the argument.

caught by: negates
"""


def negate(x):
    return x
