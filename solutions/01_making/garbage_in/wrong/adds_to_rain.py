"""You add up in rain itself, which belongs to the caller, and whose hours are lost by that.

caught by: kept
"""


def running_totals(rain):
    totals = rain
    for hour in range(1, len(rain)):
        totals[hour] += totals[hour - 1]
    return totals
