"""You make floats of the caller's ints in the caller's own list. Do not change it; PyTorch converts for you.

caught by: kept
keeps: to_python
"""

import torch


def to_tensor(readings):
    for row in readings if isinstance(readings, list) else []:
        if isinstance(row, list) and any(isinstance(number, float) for number in row):
            row[:] = [float(number) for number in row]
    return torch.tensor(readings)
