"""You call a third collective, to ask for what every rank has already.

caught by: scores_stay
"""

import torch
import torch.distributed as dist


def global_mean(local):
    both = torch.stack([local.sum(), local.new_tensor(local.numel())])
    dist.all_reduce(both)
    mean = both[0] / both[1]
    dist.broadcast(mean, src=0)
    dist.barrier()
    return mean
