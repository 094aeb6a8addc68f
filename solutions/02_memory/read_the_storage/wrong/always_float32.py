"""You read the bytes as float32, whatever the dtype of t is, so that other dtypes come out as nonsense.

caught by: dtypes
keeps: everything, poke_
"""

import torch


def storage_numbers(t):
    return torch.empty(0).set_(t.untyped_storage()).tolist()
