"""You always make a column of the targets; beside a vector of predictions that is the square again.

caught by: mixed[few]
keeps: as_vector
"""


def mse(pred, target):
    predictions, targets = as_vector(pred), as_vector(target)
    if len(predictions) != len(targets):
        raise ValueError("different numbers")
    if pred.dim() == target.dim():
        return (pred - target).square().mean()
    return (pred - targets.unsqueeze(1)).square().mean()
