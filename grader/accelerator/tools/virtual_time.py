"""Clocks that a program reads, replaced by the virtual one: it shows that timing without a wait is wrong."""

from __future__ import annotations

import time
import timeit
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.sim.machine import Machine, the_machine


# A mode, since it sees the operators on plain tensors, too, which a class of tensors does not.
class _HostWork(TorchDispatchMode):
    """A mode that advances the virtual clock for each operator on CPU tensors."""

    def __init__(self, machine: Machine) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.machine = machine

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False, so that PyTorch does not import its compiler at the first operator."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operator, and add its time on the host to the virtual clock.

        No time is added for a view, or if a tensor is on the simulated device.
        """
        del types
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        tensors = [*_tensors(args), *_tensors(tuple(kwargs.values())), *_tensors((out,))]
        # Work with a tensor of ours is the device's and on its clock already; views take no time worth telling.
        if tensors and not func.is_view and all(not isinstance(tensor, SimTensor) for tensor in tensors):
            most = max(tensor.numel() for tensor in tensors)
            formula = flop_registry.get(func._overloadpacket)
            flops = formula(*args, **kwargs, out_val=out) if formula else most
            nbytes = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
            # The same formula as for a kernel, with the host's numbers: so the two can be compared.
            seconds = self.machine.spec.host_seconds(flops, nbytes)
            self.machine.clock.pass_time(seconds, func._overloadpacket.__name__)
        return out


def _tensors(values: Any) -> list[torch.Tensor]:
    result: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            result.append(value)
        elif isinstance(value, (list, tuple)):
            result += _tensors(value)
    return result


@contextmanager
def virtual_time() -> Iterator[Machine]:
    """Replace the functions of `time` by functions of the host's virtual clock.

    In the context, `time.sleep(1)` returns at once, and `time.perf_counter()` is then one second later. Operators on
    CPU tensors take the time that the spec says; Python code itself takes none. The machine's clock goes on from where
    it is. The context manager yields the machine.
    """
    machine = the_machine()
    # What a program prints of `time.time()` is a date.
    epoch = time.time() - machine.clock.host

    def now() -> float:
        return machine.clock.host

    def now_ns() -> int:
        return round(machine.clock.host * 1e9)

    def date() -> float:
        return epoch + machine.clock.host

    def date_ns() -> int:
        return round(epoch * 1e9) + now_ns()

    def sleep(seconds: float) -> None:
        machine.clock.pass_time(seconds, "sleep")

    # `timeit` took its clock from `time` when it was loaded, so both are replaced.
    new: dict[tuple[Any, str], Any] = {(timeit, "default_timer"): now, (time, "sleep"): sleep}
    for name in ("perf_counter", "monotonic", "process_time"):
        new[time, name] = now
        new[time, f"{name}_ns"] = now_ns
    new |= {(time, "time"): date, (time, "time_ns"): date_ns}
    old = {place: getattr(*place) for place in new}
    try:
        for (owner, name), value in new.items():
            setattr(owner, name, value)
        with _HostWork(machine):
            yield machine
    finally:
        for (owner, name), value in old.items():
            setattr(owner, name, value)
