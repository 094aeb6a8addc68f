"""You add along the gauges: dim 1 runs within an hour. The hours are dim 0.

caught by: small
"""


def running_totals(rain):
    return rain.cumsum(1, dtype=rain.dtype)
