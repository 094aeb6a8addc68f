"""PyTorch's benchmark timer waits for the device."""

from __future__ import annotations

import importlib
import time
import timeit
from typing import Any

from grader.accelerator.cuda import device_module
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Let `torch.utils.benchmark.Timer` wait for the device before it reads the time."""
    del machine
    timer: Any = importlib.import_module("torch.utils.benchmark.utils.timer")

    def waiting() -> float:
        device_module.synchronize()
        # Looked up at each call: within `virtual_time` it is the virtual clock.
        return timeit.default_timer()

    # The class took its clock as a default argument when it was loaded; a new function under the old name would come
    # too late. The default itself is replaced.
    start = timer.Timer.__init__
    start.__defaults__ = tuple(waiting if value is time.perf_counter else value for value in start.__defaults__)
