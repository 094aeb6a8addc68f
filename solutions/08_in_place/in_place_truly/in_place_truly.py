"""Methods with an underscore.

also right: right_and_overwrites
"""

import torch


def axpy_(y: torch.Tensor, a: float, x: torch.Tensor) -> torch.Tensor:
    return y.add_(x, alpha=a)


def sine_(t: torch.Tensor) -> torch.Tensor:
    return t.sin_()


def reset_(t: torch.Tensor) -> torch.Tensor:
    return t.zero_()
