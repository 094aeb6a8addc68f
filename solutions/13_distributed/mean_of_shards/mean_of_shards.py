"""The sums and the counts travel together.

also right: detached
"""

import torch
import torch.distributed as dist


def global_mean(local: torch.Tensor) -> torch.Tensor:
    both = torch.stack([local.sum(), local.new_tensor(local.numel())])
    dist.all_reduce(both)
    total, count = both
    return total / count
