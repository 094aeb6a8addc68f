"""You use `reduce`, which gives the sum to one rank; the others go on with what they had.

caught by: random
"""

import torch
import torch.distributed as dist


def global_mean(local):
    both = torch.stack([local.sum(), local.new_tensor(local.numel())])
    dist.reduce(both, dst=0)
    return both[0] / both[1].clamp(min=1)
