"""By the norm of each row."""

import torch


class RMSNorm(torch.nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(dim))

    def forward(self, x):
        mean = x.float().norm(dim=-1, keepdim=True) ** 2 / x.shape[-1]
        return (x.float() / (mean + 1e-5).sqrt() * self.weight).to(x.dtype)
