"""An empty tensor that is set on the storage."""

import torch


def storage_numbers(t):
    return torch.empty(0, dtype=t.dtype).set_(t.untyped_storage()).tolist()


def poke_(t, k, v):
    own = torch.empty(0, dtype=t.dtype).set_(t.untyped_storage())
    if k < 0:
        raise IndexError(k)
    own[k] = v
    return t
