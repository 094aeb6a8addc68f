"""You take the dtype from rain with new_empty. Only the dtype comes along; the numbers are as unset as those of empty.

caught by: unset_memory
"""


def running_totals(rain):
    totals = rain.new_empty(rain.shape)
    for hour in range(len(rain)):
        totals[hour:] += rain[hour]
    return totals
