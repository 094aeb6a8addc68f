"""Parameters and subclasses of tensors that are made of a tensor on the device are on the device, too."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.core.tensor import PlainSimTensor, SimParameter, SimTensor, class_on_device
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Put parameters, and objects of tensor subclasses, on the device of their data.

    For example, `torch.nn.Parameter(torch.ones(2, device="cuda"))` is on the device.
    """
    del machine
    make: Any = torch.Tensor._make_subclass

    def make_subclass(cls: Any, data: torch.Tensor, require_grad: bool = False, **options: Any) -> Any:
        if not isinstance(data, SimTensor):
            return make(cls, data, require_grad, **options)
        if cls is torch.nn.Parameter:
            return torch.nn.Parameter(data, require_grad)
        made = torch.ops.aten.detach.default(data).requires_grad_(require_grad)
        if cls is not torch.Tensor:
            made.__class__ = class_on_device(cls)
        return made

    def as_subclass(self: torch.Tensor, cls: Any) -> Any:
        return SimTensor.as_subclass(self, cls) if isinstance(self, SimTensor) else as_other(self, cls)

    as_other: Any = torch.Tensor.as_subclass
    put(torch.Tensor, "_make_subclass", staticmethod(make_subclass))
    put(torch.Tensor, "as_subclass", as_subclass)
    original = torch.nn.Parameter.__new__

    def new(cls: Any, data: Any = None, requires_grad: bool = True, **kwargs: Any) -> Any:
        # PyTorch's own refuses a class whose `detach` gives another one.
        made = original(cls, data.detach() if isinstance(data, SimTensor) else data, requires_grad, **kwargs)
        if type(made) is PlainSimTensor:
            made.__class__ = SimParameter if cls is torch.nn.Parameter else class_on_device(cls)  # type: ignore[assignment]
        return made

    put(torch.nn.Parameter, "__new__", staticmethod(new))
