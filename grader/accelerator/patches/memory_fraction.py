"""The part of the memory that a process may take, and functions that the program wants called when it is full."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine
from grader.accelerator.sim.memory import OBSERVERS, DeviceMemory


def install(machine: Machine) -> None:
    """Let programs limit the part of the simulated memory that they take.

    After `torch.cuda.set_per_process_memory_fraction(0.5)`, an allocation beyond half of the device's memory raises
    `torch.OutOfMemoryError`. Observers that the program attached to the allocator are called first.
    """

    def memory_of(device: Any) -> DeviceMemory:
        return machine.devices[machine.index_of() if device is None else machine.required_index(device)].memory

    def set_fraction(fraction: float, device: Any = None) -> None:
        if not isinstance(fraction, float):
            raise TypeError("Invalid type for fraction argument, must be `float`")
        if not 0 <= fraction <= 1:
            raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
        memory_of(device).share = fraction

    def get_fraction(device: Any = None) -> float:
        return memory_of(device).share

    def backend() -> str:
        return "native"

    for owner in (torch.cuda, torch.cuda.memory):
        put(owner, "set_per_process_memory_fraction", set_fraction)
        put(owner, "get_per_process_memory_fraction", get_fraction)
        put(owner, "get_allocator_backend", backend)
    put(torch._C, "_cuda_attach_out_of_memory_observer", OBSERVERS.append)
