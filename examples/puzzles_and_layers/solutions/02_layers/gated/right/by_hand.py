"""With the sigmoid written out."""

import torch
from torch import nn


class Gated(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.up, self.gate = nn.Linear(dim, hidden, bias=False), nn.Linear(dim, hidden, bias=False)
        self.down = nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        opened = self.gate(x)
        return self.down(opened * torch.sigmoid(opened) * self.up(x))
