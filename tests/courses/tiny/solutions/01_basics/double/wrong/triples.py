"""You tripled it; double means two times.

caught by: small
breaks: C1, C3
"""


def double(x):
    return 3 * x


def double_(x):
    return x.mul_(3)
