"""You return a vector with one element; index it, and what comes out has no dims.

caught by: zero_dim
"""

import torch
import torch.distributed as dist


def global_mean(local):
    both = torch.stack([local.sum(), local.new_tensor(local.numel())])
    dist.all_reduce(both)
    return both[:1] / both[1:]
