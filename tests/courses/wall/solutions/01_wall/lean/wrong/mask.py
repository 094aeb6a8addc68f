"""You make a mask of the size of scores.

caught by: no_table
"""

import torch


def scale_(t, factor):
    return t.mul_(factor)


def pick(scores, labels):
    return scores[torch.arange(scores.shape[1]) == labels[:, None]]
