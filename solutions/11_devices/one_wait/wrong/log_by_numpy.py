"""You make the list with NumPy, which has no bfloat16. `tolist` of a tensor works for every dtype.

caught by: every_dtype
keeps: first_bad
"""

import torch


def loss_log(losses):
    return torch.stack(losses).detach().cpu().numpy().tolist() if losses else []
