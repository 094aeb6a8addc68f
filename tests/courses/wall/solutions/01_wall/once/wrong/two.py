"""You take two away.

caught by: less
"""


def more(x):
    return x + 1


def less(x):
    return x - 2
