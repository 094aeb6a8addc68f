"""You multiply by 0; NaN times 0 is NaN, and so is infinity times 0.

caught by: random[reset_]
keeps: axpy_, sine_
"""


def reset_(t):
    return t.mul_(0)
