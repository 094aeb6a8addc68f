"""Methods of tensors that move, convert or make tensors take the device by its public name."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from grader.accelerator.core.sparse import parts_of, rebuild_sparse
from grader.accelerator.core.tensor import SimTensor, wrap
from grader.accelerator.core.unsupported import refuse_strided_nested
from grader.accelerator.patches.factories import translate_device, unwrap_lists
from grader.accelerator.refusals import refusal
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Device, Machine

_METHODS = (
    *("new_empty", "new_empty_strided", "new_full", "new_ones", "new_zeros"),
    *("normal_", "uniform_", "random_", "bernoulli_", "bernoulli", "multinomial"),
    *("exponential_", "geometric_", "log_normal_", "cauchy_"),
)
"""Methods that take a device or a generator by name."""


_NO_STREAM = (
    "Could not run 'aten::record_stream' with arguments from the '{}' backend. This could be because the operator "
    "doesn't exist for this backend, or was omitted during the selective/custom build process (if using custom build)."
)


def install(machine: Machine) -> None:
    """Let `x.to("cuda")`, `x.cuda()` and `x.new_zeros(2, device="cuda")` use the device.

    All methods of tensors that move, convert or make tensors are wrapped, and accept the device by its public name.
    """
    original_to, original_type = torch.Tensor.to, torch.Tensor.type

    @functools.wraps(original_to)
    def to(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        """Convert or move a tensor, as `Tensor.to` does; the device may have its public name."""
        # The class of C++: `torch.device` is replaced by one that runs Python code for `isinstance`.
        device = args[0] if args and isinstance(args[0], (str, torch._C.device)) else kwargs.get("device")
        # Only a dtype, or another tensor whose device is to be taken: C++ finds that one by itself. It refuses any
        # other type with PyTorch's own TypeError.
        if device is None or not isinstance(self, torch.Tensor):
            made = original_to(self, *args, **kwargs)
            machine.races.on_arrivals()
            return made
        place = machine.inner_device(device) if (ours := machine.is_simulated(device)) else device
        if ours and _moves_in_parts(self):
            return _move_sparse(self, lambda part: original_to(part, place))
        if "device" in kwargs:
            kwargs["device"] = place
        else:
            args = (place, *args[1:])
        made = original_to(self, *args, **kwargs)
        machine.races.on_arrivals()
        return made

    # Under the name of the kind: `.cuda()` in mode cuda, `.sim()` in mode sim.
    def cuda(
        self: torch.Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = torch.preserve_format
    ) -> Any:
        place = _place_of(machine, device)
        if _moves_in_parts(self):
            return _move_sparse(self, lambda part: original_to(part, place.inner, non_blocking=non_blocking))
        return original_to(self, place.inner, non_blocking=non_blocking, memory_format=memory_format)

    def of_type(self: torch.Tensor, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
        if isinstance(dtype, str) and dtype.startswith(f"torch.{machine.kind}."):
            name = dtype.rpartition(".")[2].removesuffix("Tensor").lower()
            return self.to(machine.kind, getattr(torch, name), non_blocking=non_blocking)
        # The types in `torch.cuda` are stand-ins of ours, of which PyTorch's own `type` knows nothing.
        legacy: Any = getattr(torch.cuda, str(getattr(dtype, "__name__", "")), None) if machine.kind == "cuda" else None
        if legacy is not None and legacy is dtype:
            return self.to(machine.kind, legacy.dtype, non_blocking=non_blocking)
        made = original_type(self, dtype, non_blocking, **kwargs)
        machine.races.on_arrivals()
        return made

    def record_stream(self: torch.Tensor, s: Any) -> None:
        del s
        raise NotImplementedError(_NO_STREAM.format(self.device.type.upper()))

    put(torch.Tensor, "to", to)
    put(torch.Tensor, "record_stream", record_stream)  # of the other tensors, which no stream uses
    put(torch.Tensor, "new_tensor", _new_tensor(machine, torch.Tensor.new_tensor))
    put(torch.Tensor, "type", of_type)
    put(torch.Tensor, machine.kind, cuda)
    # Parameters without a shape refuse all functions but those on a list, and the list holds the originals.
    lazy: Any = torch.nn.parameter.UninitializedParameter
    lazy._allowed_methods.extend((torch.Tensor.to, getattr(torch.Tensor, machine.kind)))
    for name in _METHODS:
        put(torch.Tensor, name, translate_device(machine, getattr(torch.Tensor, name)))


def _new_tensor(machine: Machine, original: Any) -> Any:
    @functools.wraps(original)
    def new_tensor(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        # Without a device PyTorch takes that of `self`, but forgets its index.
        device = kwargs.get("device") or (self.device if isinstance(self, SimTensor) else None)
        args = tuple(unwrap_lists(machine, arg) for arg in args)
        return original(self, *args, **{**kwargs, "device": machine.to_inner_device(device)})

    return new_tensor


def _place_of(machine: Machine, device: Any) -> Device:
    if not (device is None or isinstance(device, int) or machine.is_simulated(device)):
        raise RuntimeError(f"Invalid device, must be {machine.kind} device")
    return machine.devices[machine.index_of(device)]


def _moves_in_parts(tensor: torch.Tensor) -> bool:
    """Return whether a CPU tensor moves to the device in parts, as a sparse tensor does.

    Raise for a tensor that cannot move at all: a nested one of the strided layout.
    """
    if isinstance(tensor, SimTensor):
        return False
    # A program's `TorchFunctionMode` sees what the program calls, and these questions are ours.
    with torch._C.DisableTorchFunction():
        refuse_strided_nested(tensor)
        return tensor.layout not in (torch.strided, torch.jagged)


def _move_sparse(tensor: torch.Tensor, move: Callable[[torch.Tensor], Any]) -> torch.Tensor:
    """Move a sparse CPU tensor to the device, part by part.

    `move` is a function that returns a dense part on the device.
    """
    if tensor.requires_grad:
        raise refusal("a sparse tensor that requires a gradient is to be made on the simulated device")
    parts = [move(part.detach()) for part in parts_of(tensor)]
    return wrap(rebuild_sparse(tensor, [part._inner for part in parts]), parts[0]._place)
