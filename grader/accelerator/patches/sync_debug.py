"""Ranges of NVTX, kernels that sleep, and the mode that reports waits."""

from __future__ import annotations

import torch

from grader.accelerator.cuda.nvtx import Ranges
from grader.accelerator.replacing import put
from grader.accelerator.sim.clock import NO_TRAFFIC
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Make `torch.cuda._sleep`, ranges of NVTX and `set_sync_debug_mode` work on the device.

    `_sleep(cycles)` takes virtual time, and a range becomes a span on the virtual clock. After
    `torch.cuda.set_sync_debug_mode(1)`, a hidden wait such as that of `item()` warns.
    """

    def sleep(cycles: int) -> None:
        # A kernel of one thread, which leaves the device to others.
        place = machine.devices[machine.current]
        machine.check_fault(place.index)
        seconds = cycles / machine.spec.clock
        if capture := machine.capture_on(place.index):
            capture.add_work("sleep", place.queue, seconds, "kernels", 0.0, NO_TRAFFIC)
            return
        machine.tally.launches += 1
        machine.clock.add_work("sleep", [place.queue], machine.spec.launch, seconds, "kernels", 0.0)

    def get_mode() -> int:
        return machine.sync_debug

    def set_mode(mode: int) -> None:
        machine.sync_debug = mode

    put(torch.cuda, "_sleep", sleep)
    put(torch._C, "_cuda_set_sync_debug_mode", set_mode)
    put(torch._C, "_cuda_get_sync_debug_mode", get_mode)
    put(torch.cuda.nvtx, "_nvtx", Ranges(machine))
