"""You put every number into a list first. [7] is a list of one number, so it gives shape (1,); 7 alone gives ().

caught by: number
keeps: to_python
"""

import torch


def to_tensor(readings):
    return torch.tensor(readings if isinstance(readings, list) else [readings])
