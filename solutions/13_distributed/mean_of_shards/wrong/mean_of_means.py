"""You average the means of the ranks, so that a shard of one score counts as much as a shard of a thousand.

caught by: random
"""

import torch.distributed as dist


def global_mean(local):
    mean = local.sum() / max(local.numel(), 1)
    dist.all_reduce(mean)
    return mean / dist.get_world_size()
