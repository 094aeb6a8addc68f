"""What the simulated accelerator costs: an operator beside the same on the CPU, and turning it on in a forked child.

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


if __name__ == "__main__":
    main()
