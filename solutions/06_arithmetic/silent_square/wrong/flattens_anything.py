"""You flatten any shape, so a row or a table with as many entries passes; look at the shape before you drop it.

caught by: other_shapes
"""


def mse(pred, target):
    if pred.numel() != target.numel():
        raise ValueError("different numbers of entries")
    return (pred.reshape(-1) - target.reshape(-1)).square().mean()
