"""Parameters that are made of a tensor of the device are of the device's class of parameters."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.core.tensor import SUBCLASS, SimParameter, SimTensor
from grader.accelerator.refusals import refusal
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Let parameters that are made of a tensor of the device be of `SimParameter`."""
    del machine
    make: Any = torch.Tensor._make_subclass

    def make_subclass(cls: Any, data: torch.Tensor, require_grad: bool = False, **options: Any) -> Any:
        if not isinstance(data, SimTensor):
            return make(cls, data, require_grad, **options)
        if cls is torch.nn.Parameter:
            return torch.nn.Parameter(data, require_grad)
        if cls is torch.Tensor:
            return data.detach().requires_grad_(require_grad)
        raise refusal(SUBCLASS.format(cls.__name__))

    put(torch.Tensor, "_make_subclass", staticmethod(make_subclass))
    original = torch.nn.Parameter.__new__

    def new(cls: Any, data: Any = None, requires_grad: bool = True, **kwargs: Any) -> Any:
        # PyTorch's own refuses a class whose `detach` gives another one.
        made = original(cls, data.detach() if isinstance(data, SimTensor) else data, requires_grad, **kwargs)
        if type(made) is SimTensor:
            made.__class__ = SimParameter
        return made

    put(torch.nn.Parameter, "__new__", staticmethod(new))
