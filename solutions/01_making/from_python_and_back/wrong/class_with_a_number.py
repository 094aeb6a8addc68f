"""You call the class torch.Tensor with a number. It takes the number as a size, and returns that many uninitialized
elements.

caught by: number
keeps: to_python
"""

import torch


def to_tensor(readings):
    return torch.tensor(readings) if isinstance(readings, list) else torch.Tensor(readings)
