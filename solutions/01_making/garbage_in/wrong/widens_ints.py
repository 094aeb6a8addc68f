"""Your totals of int32 are int64, as `cumsum` makes them unless you name a dtype.

caught by: dtype
"""


def running_totals(rain):
    return rain.cumsum(0)
