"""Processes that are forked from one that used the device: as on CUDA, they cannot use it."""

from __future__ import annotations

import os
from dataclasses import dataclass

from grader.accelerator.sim.device_asserts import Fault
from grader.accelerator.sim.machine import Machine


@dataclass(frozen=True, slots=True)
class ForkedFault(Fault):
    """The fault of every device in a process that was forked from one that had used it; `text` is the kind's name."""

    def error(self, *, print_text: bool) -> Exception:
        """Return PyTorch's error for a device that is used in a forked process.

        Args:
            print_text: unused; `Fault.error` takes it.
        """
        del print_text
        name = "CUDA" if self.text == "cuda" else self.text
        return RuntimeError(
            f"Cannot re-initialize {name} in forked subprocess. To use {name} with multiprocessing, you must use the "
            "'spawn' start method"
        )


def invalidate_in_forked_children(machine: Machine) -> None:
    """Make the devices fail in each process that is forked after their first use."""

    def lose() -> None:
        # PyTorch notes it when it asks the driver how many devices there are (`THCPModule_getDeviceCount_wrap`, which
        # `torch.cuda.is_available` calls), and pinned memory is the driver's.
        if machine.used or machine.reached_driver:
            for device in machine.devices:
                device.fault, device.fault_is_reported = ForkedFault(0.0, machine.kind), True

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lose)


def was_forked_after_use(machine: Machine) -> bool:
    """Return whether this process was forked from one that had used the devices."""
    return any(isinstance(device.fault, ForkedFault) for device in machine.devices)
