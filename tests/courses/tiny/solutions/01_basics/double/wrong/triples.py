"""You tripled it; double means two times.

caught by: small
"""


def double(x):
    return 3 * x


def double_(x):
    return x.mul_(3)
