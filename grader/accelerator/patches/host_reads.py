"""Find uses of pinned memory that an asynchronous copy from the device may not have filled yet.

While there is such a copy, a dispatch mode looks at the CPU tensors of each operator, and the methods by which Python
or other libraries read a CPU tensor look at that tensor. Once the host has waited for the copy, the mode is removed.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode, _pop_mode, _push_mode

from grader.accelerator.core.tensor import PlainSimTensor, SimParameter, SimTensor
from grader.accelerator.dispatch.run import run
from grader.accelerator.replacing import put
from grader.accelerator.schema.facts import NO_KERNEL, OperatorFacts, facts_of
from grader.accelerator.sim.clock import Queue
from grader.accelerator.sim.machine import Machine
from grader.accelerator.sim.races import Races

_READING = {"numpy": "numpy", "tolist": "tolist", "__reduce_ex__": "pickle", "__deepcopy__": "deepcopy"}
"""Methods of a CPU tensor that read its memory, or give it to a library, without an operator: names in warnings."""

_WITHOUT_MEMORY = {int, float, bool, str, type(None), torch.dtype, torch.layout, torch.memory_format}

_ASKS_ONLY = {"is_pinned", "is_same_size", "is_set_to", "is_non_overlapping_and_dense", "record_stream", "pin_memory"}
"""Operators that read no element, beside views and those in `NO_KERNEL`."""


_users: dict[int, tuple[OpOverload[..., Any], OperatorFacts | None]] = {}
"""By the address of an operator: the operator, which keeps the address, and its facts if it uses elements."""


def _user_facts(func: Any) -> OperatorFacts | None:
    """Return the facts of an operator that reads elements of its arguments or writes to them.

    For any other operator, and for a function that is not an operator, the result is None.
    """
    if not isinstance(func, OpOverload):
        return None
    if id(func) not in _users:
        facts = facts_of(func)
        looks = facts.is_view or facts.shapes_only or facts.name in _ASKS_ONLY
        uses = not looks and (facts.name not in NO_KERNEL or facts.name == "_local_scalar_dense")
        _users[id(func)] = func, facts if uses else None
    return _users[id(func)][1]


class _Thread(threading.local):
    """The state of the mode in a thread.

    Attributes:
        on: whether the mode is on the thread's stack.
        runs: whether it runs an operator; meanwhile PyTorch has taken it off the stack.
    """

    on = False
    runs = False


class _HostReads(TorchDispatchMode):
    """A dispatch mode that reports operators which use memory that a copy may not have filled yet."""

    def __init__(self, machine: Machine) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.machine = machine
        self.thread = _Thread()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False, so that PyTorch does not import its compiler at the first operator."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Report races between an operator and copies to pinned memory, then run the operator."""
        kwargs = kwargs or {}
        thread = self.thread
        before, thread.on, thread.runs = thread.runs, True, True
        try:
            # While a copy is on its way, each operator comes here, and most have nothing on the host.
            uses_host = not (_lies_on_device(args) and _lies_on_device(kwargs.values()))
            if uses_host and self.machine.races.arriving:
                with torch._C.DisableTorchFunction():
                    self._check(func, args, kwargs)
            # Unless another mode follows, PyTorch would call `run` next for tensors of the device.
            if not isinstance(func, OpOverload):
                return func(*args, **kwargs)
            if types and not _count_modes():
                done = run(type(self), func, types, args, kwargs)
                if done is not NotImplemented:
                    return done
            return func._op(*args, **kwargs)
        finally:
            thread.runs = before

    def switch(self) -> None:
        """Switch this mode on if a copy to pinned memory may still be running, otherwise off.

        The mode lies at the bottom of the thread's stack of modes: those of the program stay above it in their order,
        so that each `with` ends its own.
        """
        races = self.machine.races
        if not races.had_arrivals:
            return
        thread, wanted = self.thread, bool(races.arriving)
        if thread.on == wanted or thread.runs:
            return
        stack = [_pop_mode() for _ in range(torch._C._len_torch_dispatch_stack())]
        for mode in ([self] if wanted else []) + [mode for mode in reversed(stack) if mode is not self]:
            _push_mode(mode)
        thread.on = wanted

    def _check(self, func: Any, args: Any, kwargs: dict[str, Any]) -> None:
        facts = _user_facts(func)
        if facts is None:
            return
        for name, tensor in _named_tensors(facts.names, args, kwargs):
            if not _is_plain(tensor) or not self.machine.races.arrivals_in(tensor):
                continue
            tensors = [tensor for _, tensor in _named_tensors(facts.names, args, kwargs)]
            queue = self._queue_of(tensors, kwargs.get("device"))
            user = "item" if facts.name == "_local_scalar_dense" else facts.name
            user += " writes to" if name in facts.writes else " reads"
            # A copy to the device, or from it, uses the memory in its queue; numbers without dims are read by the host.
            copies = facts.name in ("copy_", "_to_copy") or tensor.dim() > 0
            self.machine.races.report_early_use(user, tensor, queue if copies else None)

    def _queue_of(self, tensors: list[torch.Tensor], device: Any) -> Queue | None:
        """Return the queue on which an operator runs; None if it runs on the host.

        A queue is the index of a device and the number of its current stream, such as (0, 0).

        Args:
            tensors: the tensors among the operator's arguments.
            device: the operator's argument `device`, if it has one.
        """
        for tensor in tensors:
            if isinstance(tensor, SimTensor):
                return tensor._place.queue
        if device is not None and self.machine.is_simulated(device):
            return self.machine.devices[self.machine.index_of(device)].queue
        return None


def install(machine: Machine) -> None:
    """Report uses of pinned memory that a copy from the device may not have filled yet.

    For example, `y = x.to("cpu", non_blocking=True)` and then `y.sum()` is reported, unless the program waits for the
    copy between them.
    """
    mode = _HostReads(machine)
    machine.races.on_arrivals = mode.switch
    for name, shown in _READING.items():
        put(torch.Tensor, name, _wrap_with_check(machine.races, getattr(torch.Tensor, name), shown))
    # `Tensor.to` and `Tensor.type` call `on_arrivals` themselves. Within an operator it is too early to put the mode on
    # the stack: PyTorch restores the thread's dispatch keys after it.
    put(torch.Tensor, "copy_", _wrap_with_switch(mode, torch.Tensor.copy_))
    # Parameters without a shape refuse all functions but those on a list, and the list holds the originals.
    lazy: Any = torch.nn.parameter.UninitializedParameter
    lazy._allowed_methods.append(torch.Tensor.copy_)
    put(torch, "_foreach_copy_", _wrap_with_switch(mode, torch._foreach_copy_))


def _wrap_with_check(races: Races, original: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a method that reports a race, then calls a tensor method that reads memory.

    Args:
        races: the race detector.
        original: the method.
        name: the name of the method in warnings.
    """

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if races.arriving and isinstance(self, torch.Tensor):
            with torch._C.DisableTorchFunction():
                if _is_plain(self):
                    races.report_early_use(f"{name} reads", self, None)
        return original(self, *args, **kwargs)

    return method


def _wrap_with_switch(mode: _HostReads, original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function that may start a copy to pinned memory, so that races are looked for.

    After each call, the wrapper switches `mode` on if such a copy may still be running, otherwise off.
    """

    @functools.wraps(original)
    def method(*args: Any, **kwargs: Any) -> Any:
        try:
            return original(*args, **kwargs)
        finally:
            mode.switch()

    return method


_count_modes = torch._C._len_torch_dispatch_stack


def _lies_on_device(values: Iterable[Any]) -> bool:
    """Return whether no argument of an operator has memory on the host."""
    for value in values:
        kind = type(value)
        if kind is PlainSimTensor or kind is SimParameter or kind in _WITHOUT_MEMORY:
            continue
        if (kind is not list and kind is not tuple) or not _lies_on_device(value):
            return False
    return True


_plain_keys: dict[int, bool] = {}
"""By dispatch keys: whether tensors with them are plain. There are few sets of keys, and each question takes a call."""


def _is_plain(tensor: torch.Tensor) -> bool:
    """Return whether a tensor is a dense CPU tensor with memory of its own.

    A wrapper is not, nor is a fake tensor.
    """
    if type(tensor) is PlainSimTensor or type(tensor) is SimParameter:
        return False
    keys = torch._C._dispatch_keys(tensor)
    bits = keys.raw_repr()
    if bits not in _plain_keys:
        _plain_keys[bits] = (
            tensor.layout is torch.strided
            and keys.has(torch._C.DispatchKey.CPU)
            and not keys.has(torch._C.DispatchKey.Python)
            and not keys.has(torch._C.DispatchKey.Functionalize)
        )
    return _plain_keys[bits]


def _named_tensors(names: tuple[str, ...], args: Any, kwargs: dict[str, Any]) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors among the arguments of an operator, each with its argument's name.

    For `add(x, 2)` and the names `("self", "other", "alpha")`, this is `("self", x)`. Of a list of tensors, each is
    yielded.
    """
    for name, value in (*zip(names, args, strict=False), *kwargs.items()):
        for one in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(one, torch.Tensor):
                yield name, one
