"""PyTorch's own loss, once the shapes are known to be right."""

import torch.nn.functional as F


def mse(pred, target):
    for t in (pred, target):
        if tuple(t.shape) not in ((t.numel(),), (t.numel(), 1)):
            raise ValueError(f"shape {tuple(t.shape)}")
    if pred.numel() != target.numel():
        raise ValueError(f"{pred.numel()} predictions, {target.numel()} targets")
    return F.mse_loss(pred.flatten(), target.flatten())
