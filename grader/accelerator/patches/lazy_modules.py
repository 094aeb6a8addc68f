"""Lazy modules: parameters and buffers that have no shape yet remember to which device they were moved.

They stay empty tensors of the CPU, since a tensor of the device cannot be of their class. With their shape they become
tensors of the device.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import torch
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter

from grader.accelerator.core.tensor import exchange_contents
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Let lazy modules such as `nn.LazyLinear` move to the device before they have shapes.

    Uninitialized parameters and buffers can be made on the device, moved there and back, and materialized there.
    """
    mixin: Any = UninitializedParameter.__mro__[1]
    original, move, device_of = mixin.materialize, torch.Tensor.to, torch._C.TensorBase.device

    def record_device(tensor: Any, device: Any) -> Any:
        tensor._place = machine.devices[machine.index_of(device)].public if machine.is_simulated(device) else None
        return tensor

    def device(self: Any) -> Any:
        return vars(self).get("_place") or device_of.__get__(self)

    def to(self: Any, *args: Any, **kwargs: Any) -> Any:
        target = args[0] if args and isinstance(args[0], (str, torch.device)) else kwargs.pop("device", None)
        if target is None:
            return move(self, *args, **kwargs)
        return record_device(move(self, "cpu", *args[1:], **kwargs), target)

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        place = vars(self).pop("_place", None) if device is None else device
        if not machine.is_simulated(place):
            original(self, shape, device, dtype)
            return
        made, wanted = torch.empty(shape, device=place, dtype=dtype or self.data.dtype), self.requires_grad
        self.__class__ = self.cls_to_become
        exchange_contents(self, torch.nn.Parameter(made, wanted) if self.__class__ is torch.nn.Parameter else made)

    deepcopy: Any = UninitializedParameter.__deepcopy__

    def copied(self: Any, memo: Any) -> Any:
        made = deepcopy(self, memo)
        vars(made).update(vars(self))
        return made

    put(mixin, "device", property(device))
    put(mixin, "is_cuda", property(lambda self: self.device.type == "cuda"))
    put(mixin, "get_device", lambda self: -1 if self.device.index is None else self.device.index)
    put(mixin, "to", to)
    put(mixin, "cpu", lambda self, *_: to(self, "cpu"))
    put(mixin, machine.kind, lambda self, index=None, *_: to(self, machine.devices[machine.index_of(index)].public))
    put(mixin, "materialize", materialize)
    put(UninitializedParameter, "__deepcopy__", copied)
    for kind in (UninitializedParameter, UninitializedBuffer):
        put(kind, "__new__", staticmethod(_wrap_constructor(machine, record_device, kind.__new__)))


def _wrap_constructor(machine: Machine, record_device: Any, original: Any) -> Any:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def new(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        place = torch.get_default_device() if given.get("device") is None else given["device"]
        if not machine.is_simulated(place):
            return original(**given)
        return record_device(original(**{**given, "device": "cpu"}), place)

    return new
