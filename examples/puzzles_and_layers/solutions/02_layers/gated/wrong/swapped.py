"""You put silu around up; the gate is what it opens and closes.

caught by: random
"""

from torch import nn


class Gated(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.up, self.gate = nn.Linear(dim, hidden, bias=False), nn.Linear(dim, hidden, bias=False)
        self.down = nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        return self.down(nn.functional.silu(self.up(x)) * self.gate(x))
