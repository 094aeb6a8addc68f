"""Scripted modules are saved from the CPU alone, and loaded to any device; scripts that name CUDA are refused."""

from __future__ import annotations

import functools
import re
import weakref
from typing import Any

import torch

from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.refusals import refusal
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import INNER, Machine

_JIT = (
    "torch.jit.save is not supported for a module on the simulated device {}; call its .cpu() before you save it, and "
    ".cuda() after you load it"
)

_SCRIPT = (
    "TorchScript knows the simulated device under another name, so a script cannot name CUDA, call .cuda() or ask for "
    ".is_cuda; call the function or module without torch.jit.script, for example with PYTORCH_JIT=0 in the environment"
)

_NAMES_CUDA = re.compile(r'prim::Constant\[value="cuda|= aten::cuda\(|= prim::is_cuda\(')
"""What a script has in its graph that names CUDA, or asks whether a tensor is on it."""


def install(machine: Machine) -> None:
    """Load scripted modules to the device, and refuse what TorchScript cannot do there.

    `torch.jit.load` loads a module to any device, and `torch.jit.save` raises for a module on the device. In mode
    "cuda", scripts that name CUDA, or ask whether a tensor is on it, raise for tensors of the device.
    """
    if machine.kind == "cuda":
        for script in (torch._C.ScriptFunction, torch._C.ScriptMethod):
            put(script, "__call__", _wrap_script_call(machine, script.__call__))
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


def _wrap_script_call(machine: Machine, original: Any) -> Any:
    """Wrap the call of scripts, so that one whose code names CUDA raises a clear error.

    A scripted function with `device="cuda"` in its code cannot run on the simulated device, which TorchScript knows by
    another, inner name. If it gets a tensor of the device, or fails, the wrapper raises `NotImplementedError`. For all
    other scripts, the wrapper replaces devices among the arguments by their inner names, and a device in the result by
    its public name.

    Args:
        machine: the simulated machine.
        original: the method `__call__` of a class of scripts, such as `torch.jit.ScriptFunction`.
    """
    named: Any = weakref.WeakKeyDictionary()  # whether a script names CUDA

    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self not in named:
            # With all functions that it calls. The method knows the device by its inner name, which a trace records.
            named[self] = _NAMES_CUDA.search(self.inlined_graph.str(False)) is not None
        # Of CPU tensors it may ask.
        if named[self] and any(isinstance(one, SimTensor) for one in (*args, *kwargs.values())):
            raise refusal(_SCRIPT)
        inner = [_inner(machine, one) for one in args]
        try:
            out = original(self, *inner, **{key: _inner(machine, one) for key, one in kwargs.items()})
        except RuntimeError:
            if named[self]:
                raise refusal(_SCRIPT) from None
            raise
        if isinstance(out, str):
            return re.sub(rf"^{INNER}(?=$|:)", machine.kind, out)
        return machine.public_device(out) if isinstance(out, torch.device) else out

    return call


def _inner(machine: Machine, value: Any) -> Any:
    return machine.to_inner_device(value) if isinstance(value, torch.device) else value
