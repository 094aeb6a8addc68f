"""A whole step with dropout, and noise of a generator of its own, captured in a graph: replays go on in the streams."""

from __future__ import annotations

import torch
from torch import nn

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ON_GPU = DEVICE.type == "cuda"
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 20), nn.GELU(), nn.Dropout(0.4), nn.Linear(20, 2)).to(DEVICE)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, capturable=ON_GPU)
own = torch.Generator(DEVICE).manual_seed(9)
x, y = torch.zeros(16, 10, device=DEVICE), torch.zeros(16, dtype=torch.long, device=DEVICE)
loss = torch.zeros((), device=DEVICE)


def step() -> None:
    """Do one step, on what lies in `x` and `y`."""
    optimizer.zero_grad(set_to_none=True)
    noise = torch.empty_like(x).normal_(generator=own)
    made = nn.functional.cross_entropy(model(x + 0.1 * noise), y)
    made.backward()
    optimizer.step()
    loss.copy_(made.detach())


rows = torch.randn(9, 16, 10)
classes = (rows.sum(2) > 0).long()
graph = torch.cuda.CUDAGraph() if ON_GPU else None
for turn, (row, one) in enumerate(zip(rows, classes, strict=True)):
    x.copy_(row)
    y.copy_(one)
    if graph is None or turn < 3:
        side = torch.cuda.Stream() if ON_GPU else None
        if side is not None:
            side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            step()
        if side is not None:
            torch.cuda.current_stream().wait_stream(side)
    else:
        if turn == 3:
            graph.register_generator_state(own)
            with torch.cuda.graph(graph):
                step()
        graph.replay()
    print(f"turn {turn} loss {loss.item():.6f}")
