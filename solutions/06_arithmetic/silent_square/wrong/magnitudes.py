"""You average the magnitudes of the differences; the rule says their squares, which weigh large ones more.

caught by: random
keeps: as_vector
"""


def mse(pred, target):
    predictions, targets = as_vector(pred), as_vector(target)
    if len(predictions) != len(targets):
        raise ValueError("different numbers")
    return (predictions - targets).abs().mean()
