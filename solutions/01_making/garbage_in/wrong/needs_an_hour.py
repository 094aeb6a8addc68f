"""You set row 0 before the loop, and where there are no hours there is no row 0: an IndexError.

caught by: edges
"""

import torch


def running_totals(rain):
    totals = torch.empty_like(rain)
    totals[0] = rain[0]
    for hour in range(1, len(rain)):
        totals[hour] = totals[hour - 1] + rain[hour]
    return totals
