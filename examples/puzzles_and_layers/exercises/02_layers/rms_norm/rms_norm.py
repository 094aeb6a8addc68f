"""RMS norm

Divides by the root of the mean square, so that the numbers of a row are about as large as 1.

C1  `RMSNorm(dim)` is an nn.Module with one parameter, `weight` of shape (dim,), all ones at first.
C2  `forward(x)` gives x / sqrt(mean of x * x over the last dim + 1e-5), times weight; x has any leading dims.
C3  For float16 x the numbers in between are float32, so that nothing overflows, and the result is float16.
"""

import torch


class RMSNorm(torch.nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        # TODO

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError  # TODO
