"""A single target is stretched to all predictions, without an error: compare the numbers of entries.

caught by: one_for_all
keeps: as_vector
"""


def mse(pred, target):
    predictions, targets = as_vector(pred), as_vector(target)
    if len(predictions) > 1 < len(targets) and len(predictions) != len(targets):
        raise ValueError("different numbers")
    return (predictions - targets).square().mean()
