"""You subtract t from itself; NaN minus NaN is NaN, and so is infinity minus infinity.

caught by: random[reset_]
keeps: axpy_, sine_
"""


def reset_(t):
    return t.sub_(t)
