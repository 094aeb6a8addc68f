"""NumPy takes no tensor that asks for gradients; detach it first, or use `tolist`, which does not mind.

caught by: kept
keeps: first_bad
"""

import torch


def loss_log(losses):
    return torch.stack(losses).cpu().numpy().astype("float64").tolist() if losses else []
