"""A net on all devices that there are, each with its part of the batch."""

from __future__ import annotations

import torch
from torch import nn

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")

torch.manual_seed(0)
model: nn.Module = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 10))
if torch.cuda.device_count() > 1:
    model = nn.DataParallel(model)
model.to(DEVICE)
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
images, labels = torch.randn(64, 1, 8, 8), torch.randint(10, (64,))
for step in range(10):
    picked = torch.randperm(64)[:32]
    x, y = images[picked].to(DEVICE), labels[picked].to(DEVICE)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    schedule.step()
    print(f"step {step} loss {loss.item():.6f}")
