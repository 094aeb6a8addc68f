"""You use `assert`, which raises AssertionError, and nothing at all under `python -O`; raise ValueError.

caught by: numbers_differ
keeps: as_vector
"""


def mse(pred, target):
    predictions, targets = as_vector(pred), as_vector(target)
    assert len(predictions) == len(targets)
    return (predictions - targets).square().mean()
