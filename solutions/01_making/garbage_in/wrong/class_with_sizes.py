"""You add to what torch.empty, new_empty or torch.Tensor(sizes) gives: what its last user left. Begin with zeros.

caught by: unset_memory
"""

import torch


def running_totals(rain):
    totals = torch.Tensor(*rain.shape).to(rain.dtype)
    for hour in range(len(rain)):
        totals[hour:] += rain[hour]
    return totals
