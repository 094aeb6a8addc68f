"""You leave the loop as it was. Its total stops where one score is too small to change it.

caught by: goes_on
breaks: C1, C3
keeps: loop_sum, loop_error
"""


def accurate_sum(x):
    return loop_sum(x)
