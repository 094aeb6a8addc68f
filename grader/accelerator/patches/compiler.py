"""`torch.compile` runs a function as it is."""

from __future__ import annotations

import functools
import importlib
import os
import sys
import warnings
from typing import Any

import torch

from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine

_FULLGRAPH = (
    "torch.compile runs the function as it is on the simulated device, and does not look for the graph breaks that "
    "fullgraph=True forbids. To find them, compile the function for the CPU in a process without the simulated device."
)

_BACKEND = (
    "torch.compile runs the function as it is on the simulated device, and does not call the backend {}. To test a "
    "backend, compile the function for the CPU in a process without the simulated device."
)


def install(machine: Machine) -> None:
    """Make `torch.compile` return the function that it gets, without compiling it.

    PyTorch has no compiler for this device. A module is still wrapped, so that `weight` becomes `_orig_mod.weight` in
    its `state_dict`, as everywhere. `fullgraph=True` warns that graph breaks are not found, and a backend that the
    program wrote that it is not called.
    """
    del machine
    # The compiler reads this when it begins to compile. It is not loaded for our sake, since that takes seconds.
    os.environ["TORCHDYNAMO_DISABLE"] = "1"
    if (config := sys.modules.get("torch._dynamo.config")) is not None:
        put(config, "disable", True)
    original: Any = torch.compile

    @functools.wraps(original)
    def compiled(model: Any = None, **options: Any) -> Any:
        made = original(model, **options)
        if model is None:
            return made  # a decorator, which comes here again
        # PyTorch's own attention with masks in Python asks for it, too, and means nothing by it here.
        if not sys._getframe(1).f_globals.get("__name__", "").startswith("torch."):
            if options.get("fullgraph"):
                warnings.warn(_FULLGRAPH, UserWarning, stacklevel=2)
            if callable(backend := options.get("backend")) and not options.get("disable"):
                name = getattr(backend, "__qualname__", type(backend).__qualname__)
                warnings.warn(_BACKEND.format(name), UserWarning, stacklevel=2)
        if isinstance(model, torch.nn.Module) and made is model and not options.get("disable"):
            return importlib.import_module("torch._dynamo.eval_frame").DisableContext()(model)
        return made

    put(torch, "compile", compiled)
