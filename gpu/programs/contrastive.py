"""Two random views of each picture are pulled together: views by warps and masks, a queue of keys, slow weights."""

from __future__ import annotations

import copy
import math

import torch
from torch import nn
from torch.distributions import Beta
from torch.nn import functional

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def view(x: torch.Tensor) -> torch.Tensor:
    """Return pictures turned, shifted, blurred, jittered, and partly covered."""
    angle = (torch.rand(len(x), device=x.device) - 0.5) * math.pi / 4
    turn = torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()], 1).view(-1, 2, 2)
    shift = torch.empty(len(x), 2, 1, device=x.device).uniform_(-0.2, 0.2)
    grid = functional.affine_grid(torch.cat([turn, shift], 2), list(x.shape), align_corners=False)
    x = functional.grid_sample(x, grid, padding_mode="reflection", align_corners=False)
    flip = torch.rand(len(x), 1, 1, 1, device=x.device) < 0.5
    x = torch.where(flip, x.flip(3), x)
    kernel = torch.tensor([[1.0, 2, 1], [2, 4, 2], [1, 2, 1]], device=x.device).div(16).expand(x.shape[1], 1, 3, 3)
    x = functional.conv2d(functional.pad(x, (1, 1, 1, 1), "reflect"), kernel, groups=x.shape[1])
    corner = torch.randint(8, (len(x), 2), device=x.device)
    rows, columns = (torch.arange(12, device=x.device)[None] - corner[:, i, None] for i in range(2))
    hidden = ((rows >= 0) & (rows < 4))[:, None, :, None] & ((columns >= 0) & (columns < 4))[:, None, None, :]
    return x.masked_fill(hidden, 0) * torch.normal(1.0, 0.1, (len(x), 1, 1, 1), device=x.device)


torch.manual_seed(0)
pictures = torch.rand(64, 3, 12, 12).pin_memory() if DEVICE.type == "cuda" else torch.rand(64, 3, 12, 12)
net = nn.Sequential(
    nn.Conv2d(3, 8, 3, stride=2), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 16)
).to(DEVICE)
slow = copy.deepcopy(net).requires_grad_(False)
queue = functional.normalize(torch.randn(32, 16, device=DEVICE))
heat = nn.Parameter(torch.tensor(2.0, device=DEVICE))
optimizer = torch.optim.SGD(
    [{"params": net.parameters(), "weight_decay": 1e-4}, {"params": [heat], "lr": 1e-2}],
    lr=0.1,
    momentum=0.9,
    nesterov=True,
)
for _ in range(3):
    for batch in pictures.to(DEVICE, non_blocking=True)[torch.randperm(64).to(DEVICE)].split(16):
        one, other = functional.normalize(net(view(batch))), functional.normalize(net(view(batch)))
        with torch.no_grad():
            for old, new in zip(slow.parameters(), net.parameters(), strict=True):
                old.lerp_(new, 0.1)
            keys = functional.normalize(slow(view(batch)))
        both = torch.cat([one, other])
        alike = both @ both.T * heat.exp()
        alike = alike.masked_fill(torch.eye(32, dtype=torch.bool, device=DEVICE), float("-inf"))
        loss = functional.cross_entropy(alike, torch.arange(32, device=DEVICE).roll(16))
        scores = torch.cat([torch.einsum("nc,nc->n", one, keys)[:, None], one @ queue.T], 1) / 0.2
        loss = loss + functional.cross_entropy(scores, torch.zeros(16, dtype=torch.long, device=DEVICE))
        share = Beta(torch.tensor(0.4, device=DEVICE), torch.tensor(0.4, device=DEVICE)).sample()
        mixed = net(share * batch + (1 - share) * batch.flip(0))
        loss = loss + functional.triplet_margin_loss(mixed, one.detach(), other.detach().flip(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        queue = torch.cat([keys, queue])[:32]
        print(f"loss {loss.item():.6f}")
