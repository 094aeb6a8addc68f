"""`torch.tensor` looks at the numbers, `tolist` at the tensor.

also right: detached
"""

import torch


def to_tensor(readings: object) -> torch.Tensor:
    return torch.tensor(readings)


def to_python(t: torch.Tensor) -> object:
    return t.tolist()
