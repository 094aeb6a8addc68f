"""Mean of uneven shards

The scores of an exam are spread over several processes, the ranks of `torch.distributed`. Each holds a shard, a 1-D
tensor of its own, and all run this same function at the same time. They want the mean of all scores. In the mean of the
ranks' means, a score of a short shard counts for more than one of a long shard.

    rank 0: [2.]   rank 1: [4., 6.]   rank 2: [7., 8., 9., 9., 9.]      mean of the means 5.13, of all scores 6.75

C1  `global_mean(local)` returns the mean of the scores of all ranks, up to rounding: a 0-dim tensor, on every rank. If
    a score is NaN, so is the mean.
C2  A shard may be empty. At least one rank has a score.
C3  The result has the dtype of local, float32 or float64, and is not computed in a less precise one.
C4  local is not changed.
C5  Each rank calls at most two collectives (a barrier is one, too) and passes them at most 64 bytes in all, not
    counting what it gets back: sums travel, scores stay.

The process group is initialised; it may have one rank, which holds all scores. Nothing requires a gradient.
"""

import torch
import torch.distributed as dist


def global_mean(local: torch.Tensor) -> torch.Tensor:
    mean = local.mean()
    dist.all_reduce(mean)  # adds up what the ranks have, and every rank gets the sum
    return mean / dist.get_world_size()  # TODO: shards differ in length
