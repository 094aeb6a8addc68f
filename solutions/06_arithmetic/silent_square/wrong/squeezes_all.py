"""You squeeze every dim of size 1, which is n itself where n is 1, and nothing is left; name the dim that goes.

caught by: single
"""


def mse(pred, target):
    for t in (pred, target):
        if t.dim() != 1 and (t.dim() != 2 or t.shape[1] != 1):
            raise ValueError("vectors and columns only")
    predictions, targets = pred.squeeze(), target.squeeze()
    if predictions.shape != targets.shape:
        raise ValueError("different numbers")
    return ((predictions - targets) ** 2).sum() / len(predictions)
