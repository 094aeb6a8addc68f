"""You join the losses, and then ask the joined tensor for one number after the other, with a wait for each.

caught by: one_wait
keeps: first_bad
"""

import torch


def loss_log(losses):
    return [float(loss) for loss in torch.stack(losses)] if losses else []
