"""You let cumsum choose the dtype. It adds up int32 in int64, unless you name one.

caught by: dtype
"""


def running_totals(rain):
    return rain.cumsum(0)
