"""You compute every narrow dtype in float16, which has no numbers as large as those of bfloat16.

caught by: precise
"""

import torch


def energy_above(x, thr):
    kept = x[x > thr]
    if x.dtype == torch.bfloat16:
        kept = kept.half()
    return kept.square().sum().to(x.dtype)
