"""Training under the profiler, with a schedule, ranges of its own, and a table of each cycle."""

from __future__ import annotations

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
ACTIVITIES = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if DEVICE == "cuda" else [])]

torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, 5)
)
model.to(DEVICE)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
images, labels = torch.randn(8, 4, 3, 16, 16), torch.randint(5, (8, 4))


def tell(found: profile) -> None:
    """Print the most expensive operators of a cycle."""
    key = "self_device_time_total" if DEVICE == "cuda" else "self_cpu_time_total"
    print(found.key_averages().table(sort_by=key, row_limit=5))


with profile(activities=ACTIVITIES, schedule=schedule(wait=1, warmup=1, active=2), on_trace_ready=tell) as prof:
    for batch, classes in zip(images, labels, strict=True):
        with record_function("forward"):
            loss = nn.functional.cross_entropy(model(batch.to(DEVICE)), classes.to(DEVICE))
        with record_function("backward"):
            optimizer.zero_grad()
            loss.backward()
        optimizer.step()
        prof.step()
        print(f"loss {loss.item():.6f}")
