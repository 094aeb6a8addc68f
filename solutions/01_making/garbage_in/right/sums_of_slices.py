"""A copy, each row of which becomes the sum of a slice."""


def running_totals(rain):
    totals = rain.clone()
    for hour in range(rain.shape[0]):
        totals[hour] = rain[: hour + 1].sum(0)
    return totals
