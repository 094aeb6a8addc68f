"""You copy each loss to the CPU by itself. A copy waits as `item` does; join the losses where they are, then copy.

caught by: one_wait
keeps: first_bad
"""

import torch


def loss_log(losses):
    return torch.stack([loss.cpu() for loss in losses]).tolist() if losses else []
