"""You add the squares up; a mean is divided by how many there are, so that it does not grow with the batch.

caught by: same_shapes
keeps: as_vector
"""


def mse(pred, target):
    predictions, targets = as_vector(pred), as_vector(target)
    if len(predictions) != len(targets):
        raise ValueError("different numbers")
    return (predictions - targets).square().sum()
