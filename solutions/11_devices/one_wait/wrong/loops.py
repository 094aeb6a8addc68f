"""You ask for one number after the other, and wait for each.

caught by: few_waits
keeps: loss_log
"""

import torch


def first_bad(x):
    for i, value in enumerate(x):
        if not torch.isfinite(value):
            return i
    return -1
