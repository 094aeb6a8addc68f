"""You add up what comes from a place on, not what came up to it.

caught by: small
"""

import torch


def running_sum(x):
    place = torch.arange(len(x))
    return torch.where(place >= place[:, None], x, 0).sum(1)
