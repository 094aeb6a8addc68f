"""You let sum add in the dtype of x. It adds in blocks, which helps, but where large scores cancel it is far off.

caught by: cancels
keeps: loop_sum, loop_error
"""


def accurate_sum(x):
    return x.sum()
