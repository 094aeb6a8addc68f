"""The record of a dispatch: one operator on its way through the device."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from grader.accelerator.core.tensor import SimParameter, SimTensor
from grader.accelerator.schema.facts import Facts
from grader.accelerator.sim.machine import Device, Machine


@dataclass(slots=True)
class Dispatch:
    """One operator: what it is given, where its outcome goes, and the memory that is new.

    Attributes:
        machine: the machine that is simulated.
        facts: what is known of the operator.
        func: the operator.
        args: its arguments by position, as the program gives them.
        kwargs: its arguments by name.
        inner: the same as `args`, with the CPU tensors inside in place of those of the device.
        named: the same as `kwargs`, with the CPU tensors inside.
        shells: the tensors of the device among all arguments, in their order.
        hosts: the other tensors among them.
        target: the device that the outcome goes to; None is the CPU.
        fresh: the tensors of the outcome that have new memory.
    """

    machine: Machine
    facts: Facts
    func: Any
    args: Any
    kwargs: dict[str, Any]
    inner: list[Any]
    named: dict[str, Any]
    shells: list[SimTensor]
    hosts: list[torch.Tensor]
    target: Device | None = None
    fresh: list[torch.Tensor] = field(default_factory=list)

    @property
    def device(self) -> Device | None:
        """The device that does the work: where the outcome goes, or where the operands are."""
        return self.target or (self.shells[0]._place if self.shells else None)

    def named_arguments(self) -> list[tuple[str, Any]]:
        """Return all arguments with their names, as the program gives them."""
        return [*zip(self.facts.names, self.args, strict=False), *self.kwargs.items()]


def record(machine: Machine, facts: Facts, func: Any, args: Any, kwargs: dict[str, Any]) -> Dispatch:
    """Take all arguments of an operator apart, and begin its record.

    Args:
        machine: the simulated machine.
        facts: of the operator.
        func: the operator.
        args: as the program gives them.
        kwargs: those given by name.
    """
    shells: list[SimTensor] = []
    hosts: list[torch.Tensor] = []
    inner = [_strip(arg, shells, hosts) for arg in args]
    named = {name: _strip(value, shells, hosts) for name, value in kwargs.items()} if kwargs else {}
    return Dispatch(machine, facts, func, args, kwargs, inner, named, shells, hosts)


def _strip(value: Any, shells: list[SimTensor], hosts: list[torch.Tensor]) -> Any:
    # By exact type, which is quick: no code here runs more often. What is derived from our class is refused later on.
    kind = type(value)
    if kind is SimTensor or kind is SimParameter:
        shells.append(value)
        return value._inner
    if kind is list or kind is tuple:
        return [_strip(item, shells, hosts) for item in value]
    if isinstance(value, torch.Tensor):
        hosts.append(value)
    return value
