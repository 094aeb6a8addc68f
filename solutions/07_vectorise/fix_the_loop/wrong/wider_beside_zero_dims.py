"""You fill with a 0-dim tensor of float32. Beside an x of 0 dims the two are equals, and a float16 x becomes float32.

caught by: dtype
"""

import torch


def energy_above(x, thr):
    kept = torch.where(x > thr, x, torch.zeros(()))
    return kept.square().sum()
