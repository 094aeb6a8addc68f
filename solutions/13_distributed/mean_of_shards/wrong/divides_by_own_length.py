"""You add up the sums of all ranks, and divide by the length of your own shard times the number of ranks.

caught by: random
"""

import torch.distributed as dist


def global_mean(local):
    total = local.sum()
    dist.all_reduce(total)
    return total / (max(len(local), 1) * dist.get_world_size())
