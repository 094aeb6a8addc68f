"""Your total is rounded before it is made float64, or float64 is never used: make x float64 first, then add.

caught by: cancels
keeps: loop_sum, loop_error
"""


def accurate_sum(x):
    return x.float().sum().to(x.dtype)
