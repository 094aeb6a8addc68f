import torch


def mse(pred: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    for t in (pred, target):
        if t.shape not in ((t.numel(),), (t.numel(), 1)):
            raise ValueError(f"the shape {tuple(t.shape)} is neither (n,) nor (n, 1)")
    predictions, targets = pred.reshape(-1), target.reshape(-1)
    if len(predictions) != len(targets):
        raise ValueError(f"there are {len(predictions)} predictions and {len(targets)} targets")
    return (predictions - targets).square().mean()
