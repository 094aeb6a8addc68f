"""Accumulated gradients, a scaler, one cycle of learning rates, averaged weights, and loaders that pin memory."""

from __future__ import annotations

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn, update_bn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ON_GPU = DEVICE.type == "cuda"
EVERY = 4

torch.manual_seed(0)
images, labels = torch.randn(192, 3, 12, 12), torch.randint(4, (192,))
images += labels[:, None, None, None] * 0.3
sampler = WeightedRandomSampler((1 + labels).tolist(), len(labels))
loader = DataLoader(TensorDataset(images, labels), 16, sampler=sampler, pin_memory=ON_GPU, num_workers=2)
model = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1, bias=False),
    nn.BatchNorm2d(8),
    nn.SiLU(),
    nn.Dropout2d(0.1),
    nn.Conv2d(8, 16, 3, stride=2),
    nn.GroupNorm(4, 16),
    nn.ReLU(),
    nn.Flatten(),
    nn.Dropout(0.2),
    nn.Linear(16 * 25, 4),
)
model = model.to(DEVICE, memory_format=torch.channels_last)  # type: ignore[call-overload]
averaged = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=ON_GPU)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-2, total_steps=3 * len(loader) // EVERY)
scaler = torch.amp.GradScaler(DEVICE.type, enabled=ON_GPU)

for epoch in range(3):
    model.train()
    seen, right = 0, torch.zeros((), dtype=torch.long, device=DEVICE)
    for step, (batch, classes) in enumerate(loader, 1):
        x = batch.to(DEVICE, non_blocking=True, memory_format=torch.channels_last)
        y = classes.to(DEVICE, non_blocking=True)
        scores = model(x)
        loss = nn.functional.cross_entropy(scores, y, label_smoothing=0.1) / EVERY
        scaler.scale(loss).backward()
        right += (scores.argmax(1) == y).sum()
        seen += len(y)
        if step % EVERY == 0:
            scaler.unscale_(optimizer)
            norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)
            schedule.step()
            averaged.update_parameters(model)
            print(f"loss {loss.item():.6f} norm loss {norm.item():.6f} rate {schedule.get_last_lr()[0]:.6f}")
    print(f"epoch {epoch} accuracy loss {1 - right.item() / seen:.6f}")
update_bn(loader, averaged, device=DEVICE)
averaged.eval()
with torch.inference_mode():
    loss = nn.functional.cross_entropy(averaged(images.to(DEVICE)), labels.to(DEVICE))
print(f"averaged loss {loss:.6f}")
