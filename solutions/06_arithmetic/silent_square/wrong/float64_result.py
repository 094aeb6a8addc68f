"""You work in float64 and stay there; bring the result back to the dtype of the inputs.

caught by: dtype
keeps: as_vector
"""


def mse(pred, target):
    predictions, targets = as_vector(pred).double(), as_vector(target).double()
    if len(predictions) != len(targets):
        raise ValueError("different numbers")
    return (predictions - targets).square().mean()
