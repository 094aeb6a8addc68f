"""Gated layer

Two maps up, one of them a gate, and one map down again.

C1  `Gated(dim, hidden)` is an nn.Module with three nn.Linear without bias: `up` and `gate` from dim to hidden, `down` from hidden to dim.
C2  `forward(x)` gives down(silu(gate(x)) * up(x)), where silu(y) is y * sigmoid(y).
C3  All parameters learn.
"""

import torch


class Gated(torch.nn.Module):
    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        # TODO

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError  # TODO
