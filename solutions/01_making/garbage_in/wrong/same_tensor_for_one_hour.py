"""For one hour you hand rain itself back. Whoever writes into the totals then writes into rain.

caught by: kept
"""


def running_totals(rain):
    if len(rain) == 1:
        return rain
    return rain.cumsum(0, dtype=rain.dtype)
