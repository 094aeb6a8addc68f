"""An empty list has nothing to stack, and `torch.stack` raises; at the start of a training there are no losses.

caught by: empty_log
keeps: first_bad
"""

import torch


def loss_log(losses):
    return torch.stack(losses).tolist()
