"""You add up along one dim only; `sum()` without a dim adds up all of them.

caught by: any_layout
"""

import torch


def energy_above(x, thr):
    kept = torch.where(x > thr, x, 0)
    return kept.square().sum(0) if x.dim() else kept.square()
