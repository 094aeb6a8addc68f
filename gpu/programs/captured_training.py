"""A whole step of training in a CUDA graph, after warm-up in a stream of its own; on the CPU the same steps plainly."""

from __future__ import annotations

import torch
from torch import nn

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ON_GPU = DEVICE.type == "cuda"

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 8)).to(DEVICE)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
batches = [(torch.randn(32, 64), torch.randint(8, (32,))) for _ in range(40)]
x, y = (part.to(DEVICE) for part in batches[0])


def step() -> torch.Tensor:
    """Do one step, on what `x` and `y` hold."""
    optimizer.zero_grad(set_to_none=True)
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


def warm_up() -> None:
    """Do three steps, so that all memory is allocated."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)


if ON_GPU:
    warm_up()
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        loss = step()
else:
    for _ in range(3):
        step()
for number, (rows, classes) in enumerate(batches):
    x.copy_(rows)
    y.copy_(classes)
    if ON_GPU:
        graph.replay()
    else:
        loss = step()
    if number % 10 == 9:
        print(f"step {number + 1}, loss {loss.item():.6f}")
