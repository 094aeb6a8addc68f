"""You move the samples by thr, cut them off with relu and move them back; each move rounds small samples away.

caught by: precise
"""

import torch


def energy_above(x, thr):
    kept = torch.relu(x - thr) + thr
    return torch.where(x > thr, kept, 0).square().sum()
