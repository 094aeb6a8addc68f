"""What the simulated accelerator costs: operators and training steps beside those on the CPU, and turning it on.

python benchmarks/accelerator_cost.py
"""

from __future__ import annotations

import functools
import gc
import os
import statistics
import time
import timeit
from collections.abc import Callable

import torch
from torch import nn

from grader import accelerator

_ROUNDS = 20


def forked(work: Callable[[], object]) -> float:
    """Milliseconds of CPU time that a piece of work takes within a forked child."""
    read, write = os.pipe()
    if not (child := os.fork()):
        start = time.process_time()
        work()
        os.write(write, str((time.process_time() - start) * 1e3).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    with os.fdopen(read) as stream:
        return float(stream.read())


def microseconds(statement: Callable[[], object]) -> float:
    """Microseconds of one call, the best of several rounds."""
    return min(timeit.repeat(statement, number=500, repeat=7)) / 500 * 1e6


_SIZES = {"of 4 layers, width 128, 512 tokens": (4, 128, 8), "of 6 layers, width 384, 512 tokens": (6, 384, 8)}
"""Transformers by how many layers they have, how wide they are and how many sequences of 64 tokens are in a batch."""


def step_of(device: str, layers: int, width: int, sequences: int) -> Callable[[], None]:
    """A step of training a transformer with 256 words."""
    torch.manual_seed(0)
    # Without dropout, which is taken apart on the device.
    block = nn.TransformerEncoderLayer(width, width // 64, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True)
    body = nn.TransformerEncoder(block, layers, enable_nested_tensor=False)
    model = nn.Sequential(nn.Embedding(256, width), body, nn.Linear(width, 256)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    words = torch.randint(256, (sequences, 65)).to(device)

    def step() -> None:
        loss = nn.functional.cross_entropy(model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        loss.item()

    return step


def report_steps() -> None:
    """Steps on the CPU and the device by turns, so that a busy machine slows both."""
    for name, size in _SIZES.items():
        steps = [step_of(device, *size) for device in ("cpu", "sim")]
        for step in steps:
            step()
        pairs = [[timeit.timeit(step, number=1) for step in steps] for _ in range(9)]
        here, there = (statistics.median(times) for times in zip(*pairs, strict=True))
        ratio = statistics.median(sim / cpu for cpu, sim in pairs)
        print(f"a step {name}: {here * 1e3:.0f} ms on the CPU, {there * 1e3:.0f} ms on the device, {ratio:.2f} times")


def main() -> None:
    accelerator.preload()
    accelerator.preload_operations()
    gc.collect()
    gc.freeze()
    for mode in ("none", "sim", "cuda"):
        times = [forked(functools.partial(accelerator.enable, mode)) for _ in range(_ROUNDS)]
        middle = statistics.median(times)
        print(f"enable({mode!r}) in a forked child: {middle:.1f} ms of CPU time, best {min(times):.1f}")
    accelerator.enable("sim")
    cpu, sim = torch.ones(4), torch.ones(4, device="sim")
    cases: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "x + 1": (lambda: cpu + 1, lambda: sim + 1),
        "x + x": (lambda: cpu + cpu, lambda: sim + sim),
        "x.add_(1)": (lambda: cpu.add_(1), lambda: sim.add_(1)),
        "x.view(2, 2)": (lambda: cpu.view(2, 2), lambda: sim.view(2, 2)),
        "x.item()": (cpu[0].item, sim[0].item),
        "torch.ones(4)": (lambda: torch.ones(4), lambda: torch.ones(4, device="sim")),
        "x.to('sim')": (cpu.clone, lambda: cpu.to("sim")),
    }
    for name, (here, there) in cases.items():
        print(f"{name:14} {microseconds(here):6.1f} us on the CPU, {microseconds(there):6.1f} us on the device")
    report_steps()


if __name__ == "__main__":
    main()
