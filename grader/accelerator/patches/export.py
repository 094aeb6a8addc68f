"""`torch.export` refuses tensors of the device."""

from __future__ import annotations

import functools
from typing import Any

import torch

from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.refusals import refusal
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine

_EXPORT = (
    "torch.export is not supported on the simulated device {}; export the module on the CPU, where its .cpu() moves it"
)


def install(machine: Machine) -> None:
    """Make `torch.export.export` raise for tensors of the device.

    PyTorch's C++ code would end the process.
    """
    original: Any = torch.export.export

    @functools.wraps(original)
    def export(mod: Any, args: Any, kwargs: Any = None, **options: Any) -> Any:
        held = [*mod.parameters(), *mod.buffers(), *torch.utils._pytree.tree_leaves((args, kwargs))]
        if any(isinstance(item, SimTensor) for item in held):
            raise refusal(_EXPORT.format(machine.kind))
        return original(mod, args, kwargs, **options)

    put(torch.export, "export", export)
