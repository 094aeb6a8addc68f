"""You call `pairwise_distance`, which adds a small number to each difference, so that no distance is ever 0.

caught by: equal[pairwise]
breaks: C1, C2
keeps: pairwise_lean
"""

import torch.nn.functional as F


def pairwise(a, b):
    return F.pairwise_distance(a[:, None], b)
