"""You call torch.Tensor with sizes, which is torch.empty under another name: it sets no number either.

caught by: unset_memory
"""

import torch


def running_totals(rain):
    totals = torch.Tensor(*rain.shape).to(rain.dtype)
    for hour in range(len(rain)):
        totals[hour:] += rain[hour]
    return totals
