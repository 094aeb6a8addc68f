"""You let the first number decide the dtype. One float further on is enough to need floats.

caught by: dtypes
keeps: to_python
"""

import torch


def to_tensor(readings):
    first = readings
    while isinstance(first, list) and first:
        first = first[0]
    named = {bool: torch.bool, int: torch.int64, float: torch.float32}
    return torch.tensor(readings, dtype=named.get(type(first)))
