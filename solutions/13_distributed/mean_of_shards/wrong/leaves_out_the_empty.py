"""A rank with an empty shard returns before the collective, and the others wait for it for ever.

caught by: empty
"""

import torch
import torch.distributed as dist


def global_mean(local):
    if local.numel() == 0:
        return local.sum()
    both = torch.stack([local.sum(), local.new_tensor(local.numel())])
    dist.all_reduce(both)
    return both[0] / both[1]
