"""You set the first row and add to all rows. The others still begin as what somebody left in memory.

caught by: unset_memory
"""

import torch


def running_totals(rain):
    totals = torch.empty_like(rain)
    totals[:1] = 0
    for hour in range(len(rain)):
        totals[hour:] += rain[hour]
    return totals
