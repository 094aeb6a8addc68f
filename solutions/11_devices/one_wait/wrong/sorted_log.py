"""You sort the losses; a log tells them in the order in which they came.

caught by: log
keeps: first_bad
"""

import torch


def loss_log(losses):
    return torch.stack(losses).sort().values.tolist() if losses else []
