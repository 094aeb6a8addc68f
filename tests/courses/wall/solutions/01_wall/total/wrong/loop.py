"""You add one element after the other in Python.

caught by: counts
"""


def total(x):
    return sum(x, x.new_zeros(()))


def mean(x):
    return x.mean()
