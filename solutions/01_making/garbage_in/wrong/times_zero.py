"""You make zeros by arithmetic on an unset tensor. Where it happens to hold NaN or infinity, that gives NaN, not 0.

caught by: unset_memory
"""

import torch


def running_totals(rain):
    totals = torch.empty_like(rain) * 0
    for hour in range(len(rain)):
        totals[hour:] += rain[hour]
    return totals
