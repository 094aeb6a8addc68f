"""You add in float32. That helps float16, but float32 scores are no better off than before.

caught by: cancels
keeps: loop_sum, loop_error
"""


def accurate_sum(x):
    return x.float().sum().to(x.dtype)
