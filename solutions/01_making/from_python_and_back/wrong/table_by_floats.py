"""You make floats of the numbers in a table and convert back. Large ints are rounded by then; keep them ints.

caught by: dtypes
keeps: to_python
"""

import torch


def to_tensor(readings):
    plain = torch.tensor(readings)
    return torch.tensor([[float(n) for n in row] for row in readings]).to(plain.dtype) if plain.dim() == 2 else plain
