"""You return a Python float, which has neither a dtype of PyTorch's nor a gradient; return the 0-dim tensor.

caught by: dtype
keeps: as_vector
"""


def mse(pred, target):
    predictions, targets = as_vector(pred), as_vector(target)
    if len(predictions) != len(targets):
        raise ValueError("different numbers")
    return (predictions - targets).square().mean().item()
