"""Trains with dropout, with checkpoints and without, from the same seeds: the difference of the losses is printed."""

from __future__ import annotations

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

device = "cuda" if torch.cuda.is_available() else "cpu"


class Block(nn.Module):
    """A layer with dropout."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Dropout(0.3))
        self.out = nn.Sequential(nn.Linear(2 * width, width), nn.Dropout(0.3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the sum of the input and the output of the layer."""
        made: torch.Tensor = x + self.out(self.inner(x))
        return made


def train(*, checkpoints: bool, reentrant: bool) -> list[float]:
    """Return the losses of a few steps."""
    torch.manual_seed(0)
    data, targets = (torch.randn(64, 32).to(device) for _ in range(2))
    blocks = nn.ModuleList(Block(32) for _ in range(3)).to(device)
    optimizer = torch.optim.AdamW(blocks.parameters(), lr=1e-2)
    losses = []
    for _ in range(5):
        x = data.clone().requires_grad_()
        for block in blocks:
            x = checkpoint(block, x, use_reentrant=reentrant) if checkpoints else block(x)
        loss = nn.functional.mse_loss(x, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


plain = train(checkpoints=False, reentrant=False)
for reentrant in (True, False):
    found = train(checkpoints=True, reentrant=reentrant)
    apart = max(abs(a - b) for a, b in zip(plain, found, strict=True))
    print(f"the largest difference that checkpoints make: loss {apart:.6f}")
