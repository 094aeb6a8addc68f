"""You still loop over the stations, one row of distances at a time. Give a a dim of size 1 and all rows come at once.

caught by: no_loop_at_scale[pairwise]
keeps: pairwise_lean
"""

import torch


def pairwise(a, b):
    if len(a) == 0:
        return a.new_empty(0, len(b))
    return torch.stack([(point - b).square().sum(1).sqrt() for point in a])
