"""Your maps have a bias; none is asked: nn.Linear(..., bias=False).

caught by: parameters
breaks: C1, C2
"""

from torch import nn


class Gated(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.up, self.gate, self.down = nn.Linear(dim, hidden), nn.Linear(dim, hidden), nn.Linear(hidden, dim)

    def forward(self, x):
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))
