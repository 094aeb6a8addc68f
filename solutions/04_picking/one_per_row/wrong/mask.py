"""You pick with a mask of the size of scores: one bool for each class of each picture, where one number a row would do.

caught by: many_classes
keeps: best
"""

import torch


def pick(scores, labels):
    return scores[torch.arange(scores.shape[1]) == labels[:, None]]
