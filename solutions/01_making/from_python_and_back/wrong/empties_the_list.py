"""You take the rows out of the caller's list with pop, and leave it empty behind you. Loop over it instead.

caught by: kept
keeps: to_python
"""

import torch


def to_tensor(readings):
    if not isinstance(readings, list) or not readings or not isinstance(readings[0], list):
        return torch.tensor(readings)
    rows = []
    while readings:
        rows.append(readings.pop(0))
    return torch.tensor(rows)
