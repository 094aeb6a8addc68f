"""You add 1e-5 to the root; it belongs under the root.

caught by: random
"""

import torch


class RMSNorm(torch.nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(dim))

    def forward(self, x):
        wide = x.float()
        return (wide / (wide.square().mean(-1, keepdim=True).sqrt() + 1e-5) * self.weight).to(x.dtype)
