"""`as_tensor`, and a recursion on the way back."""

import torch


def to_tensor(readings):
    return torch.as_tensor(readings)


def to_python(t):
    if t.dim() == 0:
        return t.item()
    return [to_python(row) for row in t]
