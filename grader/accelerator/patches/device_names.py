"""The device has its public name: in `Tensor.device`, in `torch.device(1)`, and where tensors are grouped by it."""

from __future__ import annotations

from typing import Any

import torch
from torch._C import TensorBase

from grader.accelerator.replacing import TensorAttribute, put
from grader.accelerator.sim.machine import Machine, the_machine


def install(machine: Machine) -> None:
    """Make PyTorch show the device by its public name `cuda:0`, not the inner name `sim:0`.

    `Tensor.device` and `torch.device(1)` have the public name, and PyTorch's lists of device types lack the inner one.
    """
    del machine
    _patch_device_attributes()
    _patch_device_class()
    _patch_device_lists()


def _patch_device_lists() -> None:
    """Keep the inner name of the device out of PyTorch's lists of device types.

    Groups of tensors get their devices by the public name. So the clipping of gradients finds the type "cuda" of each
    group in these lists.
    """
    # The lists have "cuda" already, and add what this function returns; without our device that is this placeholder.
    put(torch._C, "_get_privateuse1_backend_name", lambda: "privateuseone")
    group = torch._C._group_tensors_by_device_and_dtype

    def grouped(tensorlistlist: list[list[Any]], with_indices: bool = False) -> dict[Any, Any]:
        public = the_machine().public_device
        found = group(tensorlistlist, with_indices)
        return {(public(device), dtype): lists for (device, dtype), lists in found.items()}

    # Clipping of gradients looks the kind of device of each group up in these lists.
    put(torch._C, "_group_tensors_by_device_and_dtype", grouped)


def _patch_device_attributes() -> None:
    """Make `Tensor.device` and `Tensor.is_cuda` use the public name of the device.

    This holds for tensors that `torch.func` wraps, too.
    """

    def device(self: torch.Tensor) -> torch.device:
        inner: torch.device = TensorBase.device.__get__(self)
        return the_machine().public_device(inner)

    def is_cuda(self: torch.Tensor) -> bool:
        if torch.overrides.has_torch_function_unary(self):
            getter = vars(torch.Tensor)["is_cuda"].__get__
            return bool(torch.overrides.handle_torch_function(getter, (self,), self))
        return self.device.type == "cuda"

    put(torch.Tensor, "device", TensorAttribute(device))
    put(torch.Tensor, "is_cuda", TensorAttribute(is_cuda))


class _DeviceMeta(type):
    """The metaclass of the class that replaces `torch.device`, by which `torch.device(1)` has the public name."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and isinstance(args[0], int) and not isinstance(args[0], bool):
            return _Device(the_machine().kind, args[0])
        return _Device(*args, **kwargs)

    def __instancecheck__(cls, thing: Any) -> bool:
        return isinstance(thing, _Device)

    # `torch.fx` compares the class with the one that it found when it was imported.
    def __eq__(cls, other: object) -> bool:
        return other is cls or other is _Device

    def __hash__(cls) -> int:
        return hash(_Device)


# Kept before `torch.device` is replaced.
_Device = torch.device


def _patch_device_class() -> None:
    """Replace `torch.device` by a class for which `torch.device(1)` is a simulated device.

    An int as the only argument is the index of that device.
    """
    names = {"__module__": "torch", "__qualname__": "device", "__doc__": _Device.__doc__}
    put(torch, "device", _DeviceMeta("device", (), names))
