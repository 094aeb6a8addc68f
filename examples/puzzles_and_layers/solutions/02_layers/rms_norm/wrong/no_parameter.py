"""You keep the weight as a plain tensor, which no optimizer finds: make it an nn.Parameter.

caught by: parameters
breaks: C1, C2
"""

import torch


class RMSNorm(torch.nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = torch.ones(dim)

    def forward(self, x):
        wide = x.float()
        return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5) * self.weight).to(x.dtype)
