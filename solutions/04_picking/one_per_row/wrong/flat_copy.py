"""You flatten the scores first: of transposed scores that copies the whole table, to pick one number a row.

caught by: no_table[transposed]
keeps: best
"""

import torch


def pick(scores, labels):
    rows, classes = scores.shape
    return scores.reshape(-1)[torch.arange(rows) * classes + labels]
