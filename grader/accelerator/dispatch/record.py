"""The record of a dispatch: one operator on its way through the device."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from grader.accelerator.core.tensor import PlainSimTensor, SimParameter, SimTensor
from grader.accelerator.schema.facts import OperatorFacts
from grader.accelerator.sim.machine import Device, Machine


@dataclass(slots=True)
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
        real: True if a quick look shows that no argument is complex, a negated view, or a CPU tensor.
        target: the device of the result; None is the CPU.
        device: the device that does the work: that of the result, or that of the operands.
        fresh: the tensors of the result that have new memory on the device.
        written: the inner tensors that the operator wrote to.
    """

    machine: Machine
    facts: OperatorFacts
    func: Any
    args: Any
    kwargs: dict[str, Any]
    inner: list[Any]
    named: dict[str, Any]
    shells: list[SimTensor]
    hosts: list[torch.Tensor]
    real: bool
    target: Device | None = None
    device: Device | None = None
    fresh: list[SimTensor] = field(default_factory=list)
    written: list[torch.Tensor] = field(default_factory=list)

    def named_arguments(self) -> list[tuple[str, Any]]:
        """Return the name and the value of each argument, as the program gives them.

        For `torch.add(x, y, alpha=2)` they are `[("self", x), ("other", y), ("alpha", 2)]`.
        """
        return [*zip(self.facts.names, self.args, strict=False), *self.kwargs.items()]


_MANY = 8

_NUMBERS = {int, float, bool}

_REAL = {int, float, bool, str, type(None), torch.dtype, torch.layout, torch.memory_format, torch._C.device}


def record(machine: Machine, facts: OperatorFacts, func: Any, args: Any, kwargs: dict[str, Any]) -> Dispatch:
    """Return the `Dispatch` of one operator call.

    It has the operator, its facts, and the simulated tensors of its arguments.

    Args:
        machine: the simulated machine.
        facts: the facts of the operator.
        func: the operator.
        args: its arguments, as the program gives them.
        kwargs: its arguments by name.
    """
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
        named[name] = value if type(value) in _REAL else _unwrap_argument(value, shells, hosts)
    # With many tensors it takes longer to look at each than the answer saves.
    if real and (hosts or len(shells) > _MANY):
        real = False
    for shell in shells if real else ():
        # What is negated when it is read comes of a complex tensor, too.
        if shell._inner.dtype.is_complex or shell._inner.is_neg():
            real = False
    return Dispatch(machine, facts, func, args, kwargs, inner, named, shells, hosts, real)


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
