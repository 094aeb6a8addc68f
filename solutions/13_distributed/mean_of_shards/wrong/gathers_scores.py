"""You send all scores to all ranks. The result is right, and nothing is gained by having shards.

caught by: scores_stay
"""

import torch
import torch.distributed as dist


def global_mean(local):
    shards = [None] * dist.get_world_size()
    dist.all_gather_object(shards, local)
    return torch.cat(shards).mean()
