"""By operators."""


def more(x):
    return x + 1


def less(x):
    return x - 1
