"""Step by step; tries and copies if PyTorch refuses."""

import numpy as np
import torch


@torch.no_grad()
def to_numpy(t):
    if t.device.type != "cpu":
        t = t.to("cpu")
    if t.requires_grad:
        t = t.detach()
    t = torch.resolve_neg(torch.resolve_conj(t))
    try:
        return t.numpy()
    except TypeError:
        return t.type(torch.float32).numpy()


def to_tensor(a):
    if not a.flags["WRITEABLE"]:
        return torch.from_numpy(np.copy(a, order="C"))
    try:
        return torch.from_numpy(a)
    except ValueError:
        return torch.from_numpy(np.ascontiguousarray(a))
