"""The record of a dispatch: one operator on its way through the device."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.core.tensor import PlainSimTensor, SimParameter, SimTensor
from grader.accelerator.schema.facts import OperatorFacts
from grader.accelerator.sim.machine import Device, Machine


class Dispatch:
    """One call of an operator: its arguments, the device of its results, and which results have new memory.

    Attributes:
        machine: the machine that is simulated.
        facts: the facts of the operator.
        func: the operator.
        args: its arguments by position, as the program gives them.
        kwargs: its arguments by name.
        inner: the same as `args`, with inner CPU tensors in place of those of the device.
        named: the same as `kwargs`, with inner CPU tensors.
        shells: the tensors of the device among all arguments, in their order.
        hosts: the tensors among all arguments that are not on a simulated device.
        real: True if no argument is complex, a complex dtype by name, a negated view, or a CPU tensor.
        target: the device of the result; None is the CPU.
        device: the device that does the work: that of the result, or that of the operands.
        fresh: the tensors of the result that have new memory on the device.
        written: the inner tensors that the operator wrote to.
    """

    __slots__ = (
        *("machine", "facts", "func", "args", "kwargs", "inner", "named", "shells", "hosts", "real"),
        *("target", "device", "fresh", "written"),
    )

    def __init__(self, machine: Machine, facts: OperatorFacts, func: Any, args: Any, kwargs: dict[str, Any]) -> None:
        shells: list[SimTensor] = []
        hosts: list[torch.Tensor] = []
        inner: list[Any] = []
        real = True
        for arg in args:
            # By exact type, which is quick: no code here runs more often.
            kind = type(arg)
            if kind is PlainSimTensor or kind is SimParameter:
                shells.append(arg)
                inner.append(arg._inner)
            elif kind in _REAL:
                inner.append(arg)
            else:
                real = real and kind is not complex
                inner.append(_unwrap_argument(arg, shells, hosts))
        named: dict[str, Any] = {}
        for name, value in kwargs.items():
            kind = type(value)
            named[name] = value if kind in _REAL else _unwrap_argument(value, shells, hosts)
            if kind is torch.dtype and value.is_complex:
                real = False
        if real and (hosts or machine.has_complex):
            real = not hosts and all(is_real(shell._inner) for shell in shells)
        self.machine = machine
        self.facts = facts
        self.func = func
        self.args = args
        self.kwargs = kwargs
        self.inner = inner
        self.named = named
        self.shells = shells
        self.hosts = hosts
        self.real = real
        self.target: Device | None = None
        self.device: Device | None = None
        self.fresh: list[SimTensor] = []
        self.written: list[torch.Tensor] = []

    def named_arguments(self) -> list[tuple[str, Any]]:
        """Return the name and the value of each argument, as the program gives them.

        For `torch.add(x, y, alpha=2)` they are `[("self", x), ("other", y), ("alpha", 2)]`.
        """
        return [*zip(self.facts.names, self.args, strict=False), *self.kwargs.items()]


_NUMBERS = {int, float, bool}

_REAL = {int, float, bool, str, type(None), torch.dtype, torch.layout, torch.memory_format, torch._C.device}


def is_real(inner: torch.Tensor) -> bool:
    """Return whether a CPU tensor is not complex.

    False for a view that is negated when it is read, too: it comes of a complex tensor.
    """
    return not inner.dtype.is_complex and not inner.is_neg()


def _unwrap_argument(value: Any, shells: list[SimTensor], hosts: list[torch.Tensor]) -> Any:
    """Return an argument with inner tensors in place of wrappers, in its lists, too.

    For a tensor `x` on the device, `[x, 2.0]` becomes `[x._inner, 2.0]`, and `x` is appended to `shells`.

    Args:
        value: the argument.
        shells: a list that gets the wrappers.
        hosts: a list that gets all other tensors.
    """
    kind = type(value)
    if kind is PlainSimTensor or kind is SimParameter:
        shells.append(value)
        return value._inner
    if kind is list or kind is tuple:
        if value and type(value[0]) in _NUMBERS:
            return value  # by the operator's schema, all are numbers
        inner = []
        for item in value:
            kind = type(item)
            if kind is PlainSimTensor or kind is SimParameter:  # as above: an optimizer gives hundreds
                shells.append(item)
                inner.append(item._inner)
            else:
                inner.append(_unwrap_argument(item, shells, hosts))
        return inner
    if isinstance(value, SimTensor):  # of a class that the program derived
        shells.append(value)
        return value._inner
    if isinstance(value, torch.Tensor):
        hosts.append(value)
    return value
