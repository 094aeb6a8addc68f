"""You open the gate without a gradient, so that it never learns.

caught by: learns
"""

from torch import nn


class Gated(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.up, self.gate = nn.Linear(dim, hidden, bias=False), nn.Linear(dim, hidden, bias=False)
        self.down = nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        return self.down(nn.functional.silu(self.gate(x)).detach() * self.up(x))
