"""Batches that are copied in a stream of their own while the one before is worked on."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ON_GPU = DEVICE.type == "cuda"

torch.manual_seed(0)
rows = torch.randn(512, 64)
data = TensorDataset(rows, (rows.sum(1) > 0).long())
loader = DataLoader(data, batch_size=64, pin_memory=ON_GPU)
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 2)).to(DEVICE)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
copies = torch.cuda.Stream() if ON_GPU else None


def batches() -> Iterator[list[torch.Tensor]]:
    """Yield each batch on the device, while the next one is copied already."""
    ready = None
    for batch in loader:
        if copies is None:
            yield batch
            continue
        with torch.cuda.stream(copies):
            moved = [part.to(DEVICE, non_blocking=True) for part in batch]
        if ready is not None:
            yield ready
        torch.cuda.current_stream().wait_stream(copies)
        for part in moved:
            part.record_stream(torch.cuda.current_stream())
        ready = moved
    if ready is not None:
        yield ready


for epoch in range(3):
    total = torch.zeros((), device=DEVICE)
    for x, y in batches():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.detach()
    print(f"epoch {epoch} loss {total.item() / len(loader):.6f}")
result = model(rows.to(DEVICE)).argmax(1)
host = torch.empty(len(rows), dtype=torch.long, pin_memory=ON_GPU)
host.copy_(result, non_blocking=True)
if ON_GPU:
    torch.cuda.synchronize()
print(f"at last loss {(host != data.tensors[1]).float().mean().item():.6f}")
