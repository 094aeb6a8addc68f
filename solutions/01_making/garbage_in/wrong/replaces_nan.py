"""You replace NaN by 0 (`nan_to_num`), but what torch.empty gives is seldom NaN: it may be any number. Begin with
zeros.

caught by: unset_memory_at_random
"""

import torch


def running_totals(rain):
    totals = torch.empty_like(rain).nan_to_num(0.0)
    for hour in range(len(rain)):
        totals[hour:] += rain[hour]
    return totals
