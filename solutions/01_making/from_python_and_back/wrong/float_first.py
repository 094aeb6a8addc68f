"""You ask for float32, and convert to ints afterwards. The large number was rounded by then, and cannot come back.

caught by: large_number
keeps: to_python
"""

import torch


def to_tensor(readings):
    right = torch.tensor(readings)
    return torch.tensor(readings, dtype=torch.float32).to(right.dtype)
