"""You return one total for each gauge. The rule wants a row for each hour: the total up to then.

caught by: small
"""


def running_totals(rain):
    return rain.sum(0, dtype=rain.dtype)
