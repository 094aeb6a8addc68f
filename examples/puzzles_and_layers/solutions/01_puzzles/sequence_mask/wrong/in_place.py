"""You write zeros into values itself; make a new table.

caught by: kept
"""

import torch


def sequence_mask(values, lengths):
    values[torch.arange(values.shape[1]) >= lengths[:, None]] = 0
    return values
