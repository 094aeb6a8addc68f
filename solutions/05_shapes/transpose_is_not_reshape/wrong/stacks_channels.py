"""You put the channels together with stack: the numbers are right, and they are copies.

caught by: write_shows
keeps: flatten_items
"""

import torch


def hwc_to_chw(img):
    return torch.stack(img.unbind(-1))
