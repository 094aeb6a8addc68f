"""You use `dot`, which takes vectors only; an image of samples has more dims. Flatten, or take the entries by a mask.

caught by: any_layout
"""

import torch


def energy_above(x, thr):
    kept = torch.where(x > thr, x, 0)
    return torch.dot(kept, kept)
