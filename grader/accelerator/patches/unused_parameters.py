"""`DistributedDataParallel` finds parameters without a gradient, though C++ has no pinned memory for the device."""

from __future__ import annotations

import functools
import weakref
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from grader.accelerator.core.accumulators import record_accumulator_streams
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine

_models: weakref.WeakSet[torch.nn.Module] = weakref.WeakSet()
"""Models that look for such parameters, in the first step or in each."""


class _WithoutPinnedMemory(TorchDispatchMode):
    """A dispatch mode that allocates ordinary host memory where C++ asks for pinned memory."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operator of backward, with ordinary memory in place of pinned memory."""
        del types
        if func is torch.ops.aten.is_pinned.default:
            return True  # C++ makes sure; Python code does not come here
        named = kwargs or {}
        return func(*args, **({**named, "pin_memory": False} if named.get("pin_memory") else named))


def install(machine: Machine) -> None:
    """Let `DistributedDataParallel(find_unused_parameters=True)` train on the device.

    PyTorch's C++ code for this asks in backward for pinned host memory, which the simulated device lacks. It then gets
    ordinary host memory. A model with a static graph needs this, too.
    """
    del machine
    model: Any = torch.nn.parallel.DistributedDataParallel
    make, set_static = model.__init__, model._set_static_graph

    @functools.wraps(make)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        # Its reducer keeps the nodes that accumulate into the parameters, from now on and as long as it lives.
        record_accumulator_streams(self.parameters())
        if self.find_unused_parameters:
            _models.add(self)

    @functools.wraps(set_static)
    def set_static_graph(self: Any) -> None:
        _models.add(self)
        set_static(self)

    put(model, "__init__", init)
    put(model, "_set_static_graph", set_static_graph)
    original: Any = torch.autograd.graph._engine_run_backward

    def run_backward(*args: Any, **kwargs: Any) -> Any:
        if not _models:
            return original(*args, **kwargs)
        # The bits of the parameters that were used are copied to the device by way of pinned memory: reducer.cpp.
        with _WithoutPinnedMemory():  # type: ignore[no-untyped-call]
            return original(*args, **kwargs)

    for owner in (torch.autograd, torch.autograd.graph):
        put(owner, "_engine_run_backward", run_backward)
