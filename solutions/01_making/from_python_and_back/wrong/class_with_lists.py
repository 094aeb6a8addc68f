"""You call the class torch.Tensor with a list. It makes float32 of everything, which rounds large whole numbers.

caught by: large_number
keeps: to_python
"""

import torch


def to_tensor(readings):
    return torch.Tensor(readings) if isinstance(readings, list) else torch.tensor(readings)
