"""You take the mean over dim 0 only, which leaves one dim of a column; a loss has no dims.

caught by: same_shapes
"""


def mse(pred, target):
    for t in (pred, target):
        if t.dim() not in (1, 2) or t.shape[1:] not in ((), (1,)):
            raise ValueError("vectors and columns only")
    if len(pred) != len(target):
        raise ValueError("different numbers")
    return (pred - target.view_as(pred)).square().mean(0)
