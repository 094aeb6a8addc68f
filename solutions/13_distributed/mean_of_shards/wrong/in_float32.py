"""You add up in float32. Scores in float64 are rounded by that, and making the mean float64 again brings nothing back.

caught by: dtype
"""

import torch
import torch.distributed as dist


def global_mean(local):
    both = torch.tensor([local.sum(), len(local)], dtype=torch.float32)
    dist.all_reduce(both)
    return (both[0] / both[1]).to(local.dtype)
