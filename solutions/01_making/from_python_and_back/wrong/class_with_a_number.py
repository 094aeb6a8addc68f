"""You call the class torch.Tensor with a number. It takes it for a size, and gives that many numbers nobody has set.

caught by: number
keeps: to_python
"""

import torch


def to_tensor(readings):
    return torch.tensor(readings) if isinstance(readings, list) else torch.Tensor(readings)
