"""You add up in float32 and convert at the end. What float32 has rounded by then cannot come back.

caught by: precise
"""

import torch


def running_totals(rain):
    totals = torch.zeros(rain.shape)
    for hour in range(len(rain)):
        totals[hour:] += rain[hour]
    return totals.to(rain.dtype)
