"""You call `torch.cdist`, which is made for this, and which you were to do without.

caught by: own
breaks: C6
"""

import torch


def pairwise(a, b):
    return torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist")


def pairwise_lean(a, b):
    return torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist")
