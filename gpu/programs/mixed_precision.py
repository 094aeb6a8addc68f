"""Autocast, a scaler, clipped gradients, and a checkpoint in the middle, as a recipe would have it."""

from __future__ import annotations

import io

import torch
from torch import nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
ON_GPU = DEVICE == "cuda"


def fresh() -> tuple[nn.Module, torch.optim.Optimizer, torch.amp.GradScaler]:
    """Return a model, its optimizer and a gradient scaler."""
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 16)).to(DEVICE)
    return model, torch.optim.SGD(model.parameters(), lr=0.02), torch.amp.GradScaler(DEVICE, enabled=ON_GPU)


torch.manual_seed(0)
data = [torch.randn(64, 64) for _ in range(20)]
targets = [rows[:, :16] * 2 for rows in data]
model, optimizer, scaler = fresh()
for epoch in range(4):
    for rows, target in zip(data, targets, strict=True):
        with torch.autocast(DEVICE, dtype=torch.float16, enabled=ON_GPU):
            loss = nn.functional.mse_loss(model(rows.to(DEVICE)), target.to(DEVICE))
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    print(f"epoch {epoch}, loss {loss.item():.6f}")
    if epoch == 1:
        file = io.BytesIO()
        torch.save([part.state_dict() for part in (model, optimizer, scaler)], file)
        file.seek(0)
        states = torch.load(file, map_location=DEVICE)
        model, optimizer, scaler = fresh()
        model.load_state_dict(states[0])
        optimizer.load_state_dict(states[1])
        scaler.load_state_dict(states[2])
