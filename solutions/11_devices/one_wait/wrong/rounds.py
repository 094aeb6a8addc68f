"""You join the losses as half precision, and lose most of their digits.

caught by: random
keeps: first_bad
"""

import torch


def loss_log(losses):
    return torch.stack(losses).half().tolist() if losses else []
