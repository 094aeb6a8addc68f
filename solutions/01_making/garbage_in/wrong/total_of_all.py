"""You return one total for each gauge. Asked is a row for each hour: the total up to then.

caught by: small
"""


def running_totals(rain):
    return rain.sum(0, dtype=rain.dtype)
