"""A simulated accelerator for PyTorch: a device that behaves like a GPU, and counts what its use costs.

    from grader import accelerator

    machine = accelerator.enable("cuda")
    total = torch.rand(1000, device="cuda").sum().item()
    print(accelerator.counters()["syncs"])

enabling       turns it on: calls the `install` of each module in `patches`
patches        what replaces functions and classes of PyTorch, one module for each subject
core           the tensor, its storage, pinned memory, the profiler
dispatch       how an operator runs
ops            operators that are not the CPU's kernels
cuda           what `torch.cuda` consists of
schema         what is known of an operator before it runs
sim            the machine: memory, clock, races, graphs, asserts, GPUs
tools          the launcher, child processes, costs by line
timeline       virtual time as text and as a trace
replacing      how a function of PyTorch's is replaced
refusals       errors for what the device lacks
pytest_plugin  runs any project's tests

It needs torch and NumPy, and nothing else of ours. It is on for the whole process, and for good.
"""

import importlib
import os
from typing import TYPE_CHECKING, Any

from grader.accelerator.sim.race_warning import RaceWarning
from grader.accelerator.timeline import Span, timeline, trace_events, write_trace

if TYPE_CHECKING:
    from grader.accelerator.core.interop import Described, describe, is_simulated, to_device, view_on_device
    from grader.accelerator.enabling import enable, preload, preload_operations
    from grader.accelerator.sim.clock import Clock
    from grader.accelerator.sim.machine import Machine, counters, cuda_is_simulated, reset_counters, the_machine
    from grader.accelerator.sim.spec import Spec
    from grader.accelerator.tools.virtual_time import virtual_time

_MODULES = {
    "core.interop": "Described describe is_simulated to_device view_on_device",
    "enabling": "enable preload preload_operations",
    "sim.clock": "Clock",
    "sim.machine": "Machine counters cuda_is_simulated reset_counters the_machine",
    "sim.spec": "Spec",
    "tools.virtual_time": "virtual_time",
}

__all__ = [
    "Clock",
    "Described",
    "Machine",
    "RaceWarning",
    "Span",
    "Spec",
    "counters",
    "cuda_is_simulated",
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


def __getattr__(name: str) -> Any:
    """Import a public name of this package at its first use.

    So a process without PyTorch can use the names that do not need it, such as `timeline`.
    """
    for module, names in _MODULES.items():
        if name in names.split():
            # In a process that gets the device of the one that started it, PyTorch's import makes it, of modules that
            # must not be half imported by then.
            if "GRADER_ACCELERATOR" in os.environ:
                importlib.import_module("torch")
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
