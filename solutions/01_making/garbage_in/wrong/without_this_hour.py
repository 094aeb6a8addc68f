"""You leave out the hour itself: row h adds up the rows before h. It belongs to the total.

caught by: small
"""

import torch


def running_totals(rain):
    totals = torch.zeros_like(rain)
    for hour in range(len(rain)):
        totals[hour + 1 :] += rain[hour]
    return totals
