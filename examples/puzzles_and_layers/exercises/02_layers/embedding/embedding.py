"""Embedding

A table with a row for each id; what goes in are ids, what comes out are their rows.

C1  `Embedding(count, dim)` is an nn.Module with one parameter, `weight` of shape (count, dim).
C2  `forward(ids)` gives the rows of ids, a tensor of the shape (*ids.shape, dim); ids has any number of dims.
C3  Rows that are used get a gradient.
"""

import torch


class Embedding(torch.nn.Module):
    def __init__(self, count: int, dim: int) -> None:
        super().__init__()
        # TODO

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError  # TODO
