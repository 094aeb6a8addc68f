"""You name int64 for everything, and the digits behind the point are cut off. Without a dtype it follows the numbers.

caught by: dtypes
keeps: to_python
"""

import torch


def to_tensor(readings):
    return torch.tensor(readings, dtype=torch.int64)
