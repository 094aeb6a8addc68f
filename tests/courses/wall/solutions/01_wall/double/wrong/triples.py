"""You tripled it; double means two times.

caught by: small
"""


def double(x):
    return 3 * x


def halve(x):
    return x / 2
