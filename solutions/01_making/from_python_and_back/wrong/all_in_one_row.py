"""You flatten the table: rows and columns are gone. A list of lists gives a tensor of two dims.

caught by: places
keeps: to_python
"""

import torch


def to_tensor(readings):
    return torch.tensor(readings).flatten() if isinstance(readings, list) else torch.tensor(readings)
