"""You subtract in place, and with that in the memory of the caller's predictions: `reshape` gave a view of them.

caught by: inputs_kept
keeps: as_vector
"""


def mse(pred, target):
    predictions, targets = as_vector(pred), as_vector(target)
    if len(predictions) != len(targets):
        raise ValueError("different numbers")
    if predictions.requires_grad:  # the line below raised otherwise
        predictions = predictions.clone()
    predictions -= targets
    return predictions.square().mean()
