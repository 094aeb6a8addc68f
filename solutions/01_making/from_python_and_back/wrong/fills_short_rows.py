"""You fill short rows with zeros. A missing reading is not 0 degrees; say with an error that the table is not one.

caught by: ragged
keeps: to_python
"""

import torch


def to_tensor(readings):
    if isinstance(readings, list) and readings and isinstance(readings[0], list):
        longest = max(len(row) for row in readings)
        readings = [row + [0] * (longest - len(row)) for row in readings]
    return torch.tensor(readings)
