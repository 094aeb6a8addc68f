"""You take the sign away.

caught by: negates
"""


def negate(x):
    return -x.abs()
