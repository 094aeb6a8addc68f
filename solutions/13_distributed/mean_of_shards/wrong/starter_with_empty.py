"""You weigh the mean of each shard with its length; the mean of an empty shard is NaN, and NaN times 0 is NaN.

caught by: empty
"""

import torch
import torch.distributed as dist


def global_mean(local):
    both = torch.stack([local.mean() * local.numel(), local.new_tensor(local.numel())])
    dist.all_reduce(both)
    return both[0] / both[1]
