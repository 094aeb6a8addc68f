import torch


class RMSNorm(torch.nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(dim))

    def forward(self, x):
        wide = x.float()
        scale = torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)
        return (wide * scale * self.weight).to(x.dtype)
