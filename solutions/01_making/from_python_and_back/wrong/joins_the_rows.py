"""You put all rows into one list and cut it up again. Three numbers and one are four too, and become two rows of two.

caught by: ragged
keeps: to_python
"""

import torch


def to_tensor(readings):
    if not isinstance(readings, list) or not readings or not isinstance(readings[0], list):
        return torch.tensor(readings)
    flat = [number for row in readings for number in row]
    if len(flat) % len(readings):
        raise ValueError("the rows have different lengths")
    return torch.tensor(flat).reshape(len(readings), len(flat) // len(readings))
