"""You refuse each table whose first size is 1 as a row; a column of one entry has that size, too.

caught by: mixed[single]
"""


def mse(pred, target):
    for t in (pred, target):
        if t.dim() != 1 and (t.dim() != 2 or t.shape[0] == 1 or t.shape[1] != 1):
            raise ValueError("vectors and columns only")
    if len(pred) != len(target):
        raise ValueError("different numbers")
    return (pred.reshape(-1) - target.reshape(-1)).square().mean()
