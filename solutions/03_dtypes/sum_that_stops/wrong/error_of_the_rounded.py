"""You compare with accurate_sum, which is rounded to the dtype of x. The error must not contain that rounding.

caught by: error_at_random
keeps: loop_sum, accurate_sum
"""


def loop_error(x):
    return abs(loop_sum(x).item() - accurate_sum(x).item())
