"""You make float32 of everything, as the class torch.Tensor does of a list; that rounds large whole numbers.

caught by: large_number
keeps: to_python
"""

import torch


def to_tensor(readings):
    return torch.Tensor(readings) if isinstance(readings, list) else torch.tensor(readings)
