"""One call does it.

odd but fine: right_and_overwrites
"""


def total(x):
    return x.sum()
