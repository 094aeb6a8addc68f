"""You multiply by a table of zeros and ones: it is as large as scores, and 0 times NaN is NaN.

caught by: many_classes
keeps: best
"""

import torch


def pick(scores, labels):
    return (scores * torch.nn.functional.one_hot(labels, scores.shape[1])).sum(1)
