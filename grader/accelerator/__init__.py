"""A simulated accelerator for PyTorch: a device that behaves like a GPU, and counts what its use costs.

    from grader import accelerator

    machine = accelerator.enable("cuda")
    total = torch.rand(1000, device="cuda").sum().item()
    print(accelerator.counters()["syncs"])

It needs torch and NumPy, and nothing else of ours. It is on for the whole process, and for good.
"""

from grader.accelerator.clock import Clock, Span
from grader.accelerator.handover import (
    Described,
    describe,
    is_simulated,
    to_device,
    view_on_device,
)
from grader.accelerator.machine import Machine, counters, reset_counters, the_machine
from grader.accelerator.spec import Spec
from grader.accelerator.timeline import timeline
from grader.accelerator.trace import trace_events, write_trace
from grader.accelerator.turn_on import enable, preload, preload_operations
from grader.accelerator.virtual_time import virtual_time

__all__ = [
    "Clock",
    "Described",
    "Machine",
    "Span",
    "Spec",
    "counters",
    "describe",
    "enable",
    "is_simulated",
    "preload",
    "preload_operations",
    "reset_counters",
    "the_machine",
    "timeline",
    "to_device",
    "trace_events",
    "view_on_device",
    "virtual_time",
    "write_trace",
]
