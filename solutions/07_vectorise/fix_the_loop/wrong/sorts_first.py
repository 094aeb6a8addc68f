"""You `sort` x to find the entries over thr; a mask finds them without any order, and much faster.

caught by: speed
"""

import torch


def energy_above(x, thr):
    ordered = x.flatten().sort(descending=True).values
    ordered = ordered[~ordered.isnan()]
    count = (ordered > thr).sum()
    return torch.where(torch.arange(len(ordered)) < count, ordered, 0).square().sum()
