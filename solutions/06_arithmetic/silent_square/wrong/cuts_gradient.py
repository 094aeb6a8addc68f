"""You make a new tensor of a Python number (`item`); the graph ends there, and nothing can be learned from this loss.

caught by: gradients
keeps: as_vector
"""

import torch


def mse(pred, target):
    predictions, targets = as_vector(pred), as_vector(target)
    if len(predictions) != len(targets):
        raise ValueError("different numbers")
    return torch.tensor((predictions - targets).square().mean().item(), dtype=pred.dtype)
