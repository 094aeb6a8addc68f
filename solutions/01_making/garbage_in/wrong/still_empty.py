"""You still add to what torch.empty gives. It holds what its last user left; begin with zeros.

caught by: unset_memory
"""

import torch


def running_totals(rain):
    totals = torch.empty_like(rain)
    for hour in range(len(rain)):
        totals[hour:] += rain[hour]
    return totals
