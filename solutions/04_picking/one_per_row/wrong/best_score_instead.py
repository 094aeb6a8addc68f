"""You take the largest score of each row; take that of the labelled class, also where the model is wrong.

caught by: four_pictures
keeps: best
"""

import torch


def pick(scores, labels):
    rows = torch.arange(len(scores))
    return scores[rows, scores.argmax(1)] if scores.numel() else scores[:, 0]
