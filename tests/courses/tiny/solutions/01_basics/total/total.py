"""One call does it.

also right: right_and_overwrites
"""


def total(x):
    return x.sum()
