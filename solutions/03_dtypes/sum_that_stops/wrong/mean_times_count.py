"""You multiply the mean by the count. The mean of no scores is NaN, and the mean rounds like the sum it comes from.

caught by: cancels
keeps: loop_sum, loop_error
"""


def accurate_sum(x):
    return x.mean() * x.numel()
