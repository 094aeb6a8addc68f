"""You compute in bfloat16 to save time; it rounds more than float16 does, though it is as wide.

caught by: precise
"""

import torch


def energy_above(x, thr):
    kept = x[x > thr]
    if x.dtype == torch.float16:
        kept = kept.bfloat16()
    return kept.square().sum().to(x.dtype)
