"""What the simulated device cannot do: it says so, or is not asked; nothing of it does something else in silence."""

from __future__ import annotations

import functools
import importlib
import os
import sys
import warnings
from typing import Any

import torch

from grader.accelerator.machine import Machine
from grader.accelerator.replacing import put
from grader.accelerator.tensor import SimTensor

_EXPORT = (
    "torch.export is not supported on the simulated device {}; export the module on the CPU, where its .cpu() moves it"
)
_JIT = (
    "torch.jit.save is not supported for a module on the simulated device {}; call its .cpu() before you save it, and "
    ".cuda() after you load it"
)

_FULLGRAPH = (
    "torch.compile runs the function as it is on the simulated device, and does not look for the graph breaks that "
    "fullgraph=True forbids. To find them, compile the function for the CPU in a process without the simulated device."
)


def refuse_export(machine: Machine) -> None:
    """`torch.export` ends the process in C++ when it meets a tensor like ours; it raises."""
    original: Any = torch.export.export

    @functools.wraps(original)
    def export(mod: Any, args: Any, kwargs: Any = None, **options: Any) -> Any:
        held = [*mod.parameters(), *mod.buffers(), *torch.utils._pytree.tree_leaves((args, kwargs))]
        if any(isinstance(item, SimTensor) for item in held):
            raise NotImplementedError(_EXPORT.format(machine.kind))
        return original(mod, args, kwargs, **options)

    put(torch.export, "export", export)


def refuse_saving_scripts(machine: Machine) -> None:
    """Let scripted modules be saved from the CPU alone, and loaded to any device: C++ reads and writes their memory."""
    jit: Any = torch.jit
    kind = jit.RecursiveScriptModule

    def refusing(original: Any) -> Any:
        @functools.wraps(original)
        def save(self: Any, *args: Any, **kwargs: Any) -> Any:
            if any(isinstance(one, SimTensor) for one in (*self.parameters(), *self.buffers())):
                raise NotImplementedError(_JIT.format(machine.kind))
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
        if not machine.is_ours(map_location):
            return original(f, map_location, **options)
        return original(f, "cpu", **options).to(machine.devices[machine.index_of(map_location)].public)

    put(torch.jit, "load", load)


def compile_nothing() -> None:
    """Let `torch.compile` run a function as it is, since PyTorch has no compiler for this device, and wrap a module.

    The names in the `state_dict` of a compiled module begin with `_orig_mod.`, as everywhere.
    """
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
        if options.get("fullgraph") and not sys._getframe(1).f_globals.get("__name__", "").startswith("torch."):
            warnings.warn(_FULLGRAPH, UserWarning, stacklevel=2)
        if isinstance(model, torch.nn.Module) and made is model and not options.get("disable"):
            return importlib.import_module("torch._dynamo.eval_frame").DisableContext()(model)
        return made

    put(torch, "compile", compiled)
