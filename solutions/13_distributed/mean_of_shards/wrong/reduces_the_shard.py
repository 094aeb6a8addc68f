"""You reduce the shard itself, in place, and lose the scores that were in it; reduce a tensor of your own.

caught by: kept
"""

import torch
import torch.distributed as dist


def global_mean(local):
    both = torch.stack([local.sum(), local.new_tensor(local.numel())])
    if local.numel():
        local[0] = both[0]
    dist.all_reduce(both)
    return both[0] / both[1]
