"""Scripted modules are saved from the CPU alone, and loaded to any device."""

from __future__ import annotations

import functools
from typing import Any

import torch

from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.refusals import refusal
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine

_JIT = (
    "torch.jit.save is not supported for a module on the simulated device {}; call its .cpu() before you save it, and "
    ".cuda() after you load it"
)


def install(machine: Machine) -> None:
    """Let `torch.jit.save` raise for modules on the device, and `torch.jit.load` load a module to any device."""
    jit: Any = torch.jit
    kind = jit.RecursiveScriptModule

    def refusing(original: Any) -> Any:
        @functools.wraps(original)
        def save(self: Any, *args: Any, **kwargs: Any) -> Any:
            if any(isinstance(one, SimTensor) for one in (*self.parameters(), *self.buffers())):
                raise refusal(_JIT.format(machine.kind))
            return original(self, *args, **kwargs)

        return save

    for name in ("save", "save_to_buffer"):
        function = refusing(getattr(kind, name))
        # Traced modules took it from the first class when they were defined.
        for owner in (kind, jit.ScriptModule, jit._trace.TracedModule, jit._trace.TopLevelTracedModule):
            put(owner, name, function)
    original: Any = torch.jit.load

    @functools.wraps(original)
    def load(f: Any, map_location: Any = None, **options: Any) -> Any:
        if not machine.is_simulated(map_location):
            return original(f, map_location, **options)
        return original(f, "cpu", **options).to(machine.devices[machine.index_of(map_location)].public)

    put(torch.jit, "load", load)
