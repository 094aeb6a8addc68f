"""A generator against a critic with spectral norms, a penalty on gradients, in streams of their own, compiled."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.utils.parametrizations import orthogonal, spectral_norm

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ON_GPU = DEVICE.type == "cuda"
torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
torch.backends.cudnn.benchmark = True

generator = nn.Sequential(nn.Linear(4, 32), nn.BatchNorm1d(32), nn.PReLU(), orthogonal(nn.Linear(32, 2))).to(DEVICE)
critic = nn.Sequential(spectral_norm(nn.Linear(2, 32)), nn.LeakyReLU(0.2), nn.Dropout(0.1), nn.Linear(32, 1)).to(DEVICE)
make = torch.compile(generator, backend="eager")
ahead = torch.optim.Adam(generator.parameters(), 2e-3, (0.5, 0.9))
against = torch.optim.Adam(critic.parameters(), 2e-3, (0.5, 0.9))
side = torch.cuda.Stream() if ON_GPU else None
start, end = (torch.cuda.Event(enable_timing=True) if ON_GPU else None for _ in range(2))
if start is not None:
    start.record()
for step in range(6):
    for _ in range(2):
        angle = torch.rand(32, device=DEVICE) * 6.2832
        real = torch.stack([angle.cos(), angle.sin()], 1)
        with torch.no_grad():
            fake = make(torch.randn(32, 4, device=DEVICE))
        between = torch.lerp(real, fake, torch.rand(32, 1, device=DEVICE)).requires_grad_()
        (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
        penalty = (slope.norm(dim=1) - 1).square().mean()
        worse = critic(fake).mean() - critic(real).mean() + 10 * penalty
        against.zero_grad()
        worse.backward()
        against.step()
    if side is not None:
        side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        noise = torch.randn(32, 4, device=DEVICE)
        loss = nn.functional.softplus(-critic(make(noise))).mean()
        ahead.zero_grad()
        loss.backward()
        ahead.step()
    if side is not None:
        torch.cuda.current_stream().wait_stream(side)
        noise.record_stream(torch.cuda.current_stream())
    print(f"step {step} critic loss {worse.item():.6f} loss {loss.item():.6f} penalty loss {penalty.item():.6f}")
if start is not None and end is not None:
    end.record()
    end.synchronize()
    assert start.elapsed_time(end) > 0
with torch.random.fork_rng(devices=[0] if ON_GPU else []):
    torch.manual_seed(5)
    first = make(torch.randn(8, 4, device=DEVICE)).sum()
again = make(torch.randn(8, 4, device=DEVICE)).sum()
print(f"samples loss {first.item():.6f} loss {again.item():.6f}")
