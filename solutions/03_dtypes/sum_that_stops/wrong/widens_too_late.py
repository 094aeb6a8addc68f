"""You convert the total. What the sum has rounded away by then does not come back; convert before you add.

caught by: cancels
keeps: loop_sum, loop_error
"""


def accurate_sum(x):
    return x.sum().double().to(x.dtype)
