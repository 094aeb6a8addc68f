"""The dot product of the differences with themselves."""

import torch


def mse(pred, target):
    match list(pred.shape), list(target.shape):
        case [n] | [n, 1], [m] | [m, 1]:
            if n != m:
                raise ValueError(f"{n} is not {m}")
        case _:
            raise ValueError("only vectors and columns")
    d = torch.sub(pred.view(n), target.view(n))
    return d @ d / n
