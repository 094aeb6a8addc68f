"""You squeeze the caller's own column with `squeeze_`: target has another shape from then on.

caught by: inputs_kept
"""


def mse(pred, target):
    for t in (pred, target):
        if t.dim() != 1 and (t.dim() != 2 or t.shape[1] != 1):
            raise ValueError("vectors and columns only")
    if len(pred) != len(target):
        raise ValueError("different numbers")
    if target.dim() == 2:
        target.squeeze_(1)
    return ((pred.reshape(-1) - target) ** 2).mean()
