"""A variational autoencoder whose decoder is checkpointed, with noise, masks and samples that the device draws."""

from __future__ import annotations

import torch
from torch import nn
from torch.distributions import Bernoulli, Independent, Normal, kl_divergence
from torch.utils.checkpoint import checkpoint_sequential

device = "cuda" if torch.cuda.is_available() else "cpu"


class Autoencoder(nn.Module):
    """Pictures to a few numbers and back."""

    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Sequential(nn.Conv2d(1, 8, 3, 2), nn.GELU(), nn.Flatten(), nn.Linear(8 * 49, 8))
        self.decode = nn.Sequential(
            nn.Linear(4, 8 * 16),
            nn.Unflatten(1, (8, 4, 4)),
            nn.Dropout2d(0.2),
            nn.Upsample(scale_factor=2, mode="bilinear"),
            nn.Conv2d(8, 8, 3, padding=1),
            nn.InstanceNorm2d(8, affine=True),
            nn.LeakyReLU(0.2),
            nn.ConvTranspose2d(8, 1, 2, stride=2),
        )

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the scores of pixels, and how far the code is from what it should be like."""
        mean, spread = self.encode(x).chunk(2, 1)
        code = Independent(Normal(mean, nn.functional.softplus(spread) + 1e-4), 1)
        prior = Independent(Normal(torch.zeros_like(mean), torch.ones_like(mean)), 1)
        made = checkpoint_sequential(self.decode, 2, code.rsample(), use_reentrant=False)
        return made, kl_divergence(code, prior)


torch.manual_seed(1)
model = Autoencoder().to(device)
optimizer = torch.optim.NAdam(model.parameters(), lr=5e-3)
grey = torch.rand(48, 1, 16, 16).to(device)
for _ in range(4):
    order = torch.randperm(48, device=device)
    for rows in grey[order].split(16):
        binary = Bernoulli(rows).sample()
        noisy = binary * (torch.rand_like(binary) > 0.1) + 0.05 * torch.randn(binary.shape, device=device)
        scores, apart = model(noisy)
        loss = nn.functional.binary_cross_entropy_with_logits(scores, binary, reduction="sum") / len(rows)
        loss = loss + 0.5 * apart.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"loss {loss.item():.6f}")
model.eval()
with torch.no_grad():
    codes = torch.randn(4, 4, generator=torch.Generator(device).manual_seed(7), device=device)
    print(f"samples loss {model.decode(codes).sigmoid().mean():.6f}")
