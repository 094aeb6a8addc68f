"""Worked out in float64 and brought back."""


def mse(pred, target):
    a, b = (t.squeeze(1) if t.dim() == 2 and t.shape[-1] == 1 else t for t in (pred, target))
    if a.dim() != 1 or b.dim() != 1:
        raise ValueError("expected one number for each item")
    if a.shape != b.shape:
        raise ValueError("expected as many targets as predictions")
    return (a.double() - b.double()).pow(2).sum().div(len(a)).to(pred.dtype)
