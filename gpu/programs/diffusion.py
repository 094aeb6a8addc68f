"""Denoising: noise and times that the device draws, offloaded activations, slow weights, and samples with a seed."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.autograd.graph import save_on_cpu
from torch.nn import functional

device = torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")
STEPS = 20


class Denoiser(nn.Module):
    """What noise is in a picture, at a time."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.time = nn.Sequential(nn.Linear(8, width), nn.SiLU(), nn.Linear(width, width))
        self.down = nn.Conv2d(1, width, 3, padding=1)
        self.norm = nn.GroupNorm(4, width)
        self.look = nn.MultiheadAttention(width, 2, dropout=0.1, batch_first=True)
        self.up = nn.ConvTranspose2d(width, width, 2, stride=2)
        self.out = nn.utils.parametrizations.weight_norm(nn.Conv2d(2 * width, 1, 3, padding=1))

    def forward(self, x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        """Return the noise."""
        rates = torch.exp(torch.arange(4, device=x.device) * (-math.log(1e3) / 4))
        angles = t[:, None] * rates
        told = self.time(torch.cat([angles.sin(), angles.cos()], 1))
        first = functional.silu(self.norm(self.down(x)) + told[:, :, None, None])
        small = functional.avg_pool2d(first, 2)
        flat = small.flatten(2).transpose(1, 2)
        flat = flat + self.look(flat, flat, flat, need_weights=False)[0]
        made: torch.Tensor = self.out(torch.cat([first, self.up(flat.transpose(1, 2).view_as(small))], 1))
        return made


torch.manual_seed(0)
betas = torch.linspace(1e-4, 0.3, STEPS, device=device)
kept = torch.cumprod(1 - betas, 0)
model = Denoiser().to(device)
slow = {name: value.clone() for name, value in model.state_dict().items()}
optimizer = torch.optim.AdamW(model.parameters(), lr=torch.tensor(2e-3), capturable=False)
shapes = (torch.linspace(-1, 1, 8).square()[:, None] + torch.linspace(-1, 1, 8).square()).expand(24, 1, 8, 8).to(device)
for epoch in range(8):
    t = torch.randint(STEPS, (24,), device=device)
    noise = torch.randn_like(shapes)
    level = kept[t].view(-1, 1, 1, 1)
    with save_on_cpu(pin_memory=device.type == "cuda"):
        found = model(level.sqrt() * shapes + (1 - level).sqrt() * noise, t.float())
        loss = functional.mse_loss(found, noise)
    model.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for name, value in model.state_dict().items():
            slow[name].mul_(0.9).add_(value, alpha=0.1)
    print(f"epoch {epoch} loss {loss.item():.6f}")

model.load_state_dict(slow)
model.eval()
drawn = torch.Generator(device=device).manual_seed(3)
with torch.no_grad():
    x = torch.randn(4, 1, 8, 8, device=device, generator=drawn)
    for step in reversed(range(STEPS)):
        t = torch.full((4,), float(step), device=device)
        x = (x - betas[step] / (1 - kept[step]).sqrt() * model(x, t)) / (1 - betas[step]).sqrt()
        if step:
            x += betas[step].sqrt() * torch.randn(x.shape, device=device, generator=drawn)
print(f"samples loss {x.mean().item():.6f} loss {x.std().item():.6f}")
