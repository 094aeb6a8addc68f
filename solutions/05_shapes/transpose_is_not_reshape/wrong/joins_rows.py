"""You flatten each item and `stack` them, which copies a contiguous batch.

caught by: contiguous
keeps: hwc_to_chw
"""

import torch


def flatten_items(x):
    if len(x) == 0:
        return x.flatten(1)
    return torch.stack([item.flatten() for item in x])
