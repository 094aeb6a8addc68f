"""You always read the bytes as float32. For a t of another dtype, the numbers are nonsense.

caught by: dtypes
keeps: everything, poke_
"""

import torch


def storage_numbers(t):
    return torch.empty(0).set_(t.untyped_storage()).tolist()
