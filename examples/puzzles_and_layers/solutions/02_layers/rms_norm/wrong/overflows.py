"""You square float16 numbers: 300 * 300 is infinite there. Go to float32 first.

caught by: half
"""

import torch


class RMSNorm(torch.nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return (x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * self.weight).to(x.dtype)
