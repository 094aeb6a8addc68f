"""You write zeros into x, which belongs to the caller; make a new tensor.

caught by: input_kept
"""

import torch


def energy_above(x, thr):
    with torch.no_grad():
        x[~(x > thr)] = 0
    return x.square().sum()
