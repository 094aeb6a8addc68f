"""Each parameter is updated as soon as its gradient is there, and the gradient dropped, so that memory holds few."""

from __future__ import annotations

import torch
from torch import nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

torch.manual_seed(0)
model = nn.Sequential(*[layer for _ in range(6) for layer in (nn.Linear(64, 64), nn.Tanh())], nn.Linear(64, 1))
model.to(DEVICE)
optimizers = {id(one): torch.optim.Adam([one], lr=1e-3, foreach=False) for one in model.parameters()}


def update(parameter: torch.Tensor) -> None:
    """Take the optimizer's step for a parameter, when its gradient is complete."""
    optimizer = optimizers[id(parameter)]
    optimizer.step()
    optimizer.zero_grad()


for parameter in model.parameters():
    parameter.register_post_accumulate_grad_hook(update)

x = torch.randn(128, 64)
y = x.pow(2).sum(1, keepdim=True).sqrt()
x, y = x.to(DEVICE), y.to(DEVICE)
if DEVICE == "cuda":
    torch.cuda.reset_peak_memory_stats()
for step in range(20):
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    if step % 5 == 4:
        print(f"step {step} loss {loss.item():.6f}")
assert all(parameter.grad is None for parameter in model.parameters())
if DEVICE == "cuda":
    print(f"at most {torch.cuda.max_memory_allocated()} bytes")
