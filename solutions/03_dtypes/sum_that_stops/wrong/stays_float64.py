"""You leave the total in float64. Whoever gave float16 scores expects float16; the total goes back at the end.

caught by: form
keeps: loop_sum, loop_error
"""


def accurate_sum(x):
    return x.double().sum()
