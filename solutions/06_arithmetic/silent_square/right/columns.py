"""Everything a column, compared as such."""


def mse(pred, target):
    columns = [t.unsqueeze(1) if t.ndim == 1 else t for t in (pred, target)]
    if any(t.ndim != 2 or t.size(1) != 1 for t in columns):
        raise ValueError("neither a vector nor a column")
    pred, target = columns
    if pred.shape != target.shape:
        raise ValueError("different numbers of predictions and targets")
    return ((pred - target) ** 2).mean()
