"""Distributed checkpoints that are written while training goes on copy tensors of the device to the host first."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.replacing import put
from grader.accelerator.sim.counters import DEVICE_TO_HOST
from grader.accelerator.sim.machine import Machine

_MODULE = "torch.distributed.checkpoint._state_dict_stager"


def install(machine: Machine) -> None:
    """Let the class that copies a state dict to the host take tensors of the device, once its module is imported.

    PyTorch's own copies every attribute of a tensor, those of the simulation among them, which would go to the file.
    """
    if (module := sys.modules.get(_MODULE)) is not None:
        _patch(machine, module)
    else:  # it takes long to import, and few programs need it
        sys.meta_path.insert(0, _WhenImported(machine))


class _WhenImported:
    """A finder of modules that patches the one module when a program imports it."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the specification of the one module, whose loader then patches it; None for any other name."""
        del path, target
        if name != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        loader: Any = None if spec is None else spec.loader
        if loader is not None:
            run = loader.exec_module

            def exec_module(module: Any) -> None:
                run(module)
                _patch(self.machine, module)

            loader.exec_module = exec_module
        return spec


def _patch(machine: Machine, module: Any) -> None:
    stager: Any = module.StateDictStager
    original = stager._offload_tensor

    def offload(self: Any, x: Any, memo: Any, non_blocking: bool = False) -> Any:
        if not isinstance(x, SimTensor):
            return original(self, x, memo, non_blocking)
        made = original(self, x._inner, memo, non_blocking)
        memo[id(x)] = made
        nbytes = made.numel() * made.element_size()
        machine.transfer(DEVICE_TO_HOST, x._place.index, nbytes, pinned=non_blocking, blocks=not non_blocking)
        return made

    put(stager, "_offload_tensor", offload)
