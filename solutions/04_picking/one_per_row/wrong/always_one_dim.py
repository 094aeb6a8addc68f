"""You take torch.where of a mask: for a tensor without dims it gives an index of one number, which fits no dim.

caught by: best[no_dim]
keeps: pick
"""

import torch


def best(t):
    largest = t.max()
    return float(largest), tuple(int(where[0]) for where in torch.where(t == largest))
