"""You go through the rows one by one: each step costs as much as one operation on all rows.

caught by: no_loop
keeps: best
"""

import torch


def pick(scores, labels):
    if len(labels) == 0:
        return scores.new_empty(0)
    return torch.stack([row[label] for row, label in zip(scores, labels, strict=True)])
