"""You return x itself.

caught by: more
"""


def more(x):
    return x


def less(x):
    return x - 1
