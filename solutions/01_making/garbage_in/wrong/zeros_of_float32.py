"""Your totals are float32 for every rain, because zeros made without a dtype are, and adding in place keeps that.

caught by: dtype
"""

import torch


def running_totals(rain):
    totals = torch.zeros(rain.shape)
    for hour in range(len(rain)):
        totals[hour:] += rain[hour]
    return totals
