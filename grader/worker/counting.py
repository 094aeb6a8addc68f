"""What one call costs, counted beside student code: operators, memory, copies and waits, collectives, ways out.

Two hooks of PyTorch's see a call. A dispatch mode sees each operator that runs, with the tensors that it takes and
makes. A function mode sees each use of PyTorch in Python, also those that run no operator, such as `tolist`. What is
counted here is a claim: the code that is counted could tamper with it. So known operations and copies (`canary`) run
before and after the call and must show, and the two hooks see the same loop; a check looks at time besides.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from grader.accelerator.clock import Clock
from grader.accelerator.machine import machine_or_none
from grader.wire.blocks import array_bounds

_COLLECTIVES = ("c10d", "_c10d_functional", "_c10d_functional_autograd")
_NO_COLLECTIVES = ("wait_tensor", "_wrap_tensor_autograd")
_SENT = ("input_tensors", "input_tensor", "input", "inputs", "tensors", "tensor", "self")
"""Names of the argument that holds what a rank sends, the best first."""

_MOVES = ("_to_copy", "copy_", "_copy_from")
_ESCAPES = {
    "tolist": "tolist",
    "numpy": "numpy",
    "__array__": "numpy",
    "__dlpack__": "dlpack",
    "item": "item",
    "__float__": "float",
    "__int__": "int",
    "__index__": "int",
    "__complex__": "complex",
    "untyped_storage": "storage",
    "data_ptr": "data_ptr",
}
"""Uses of a tensor after which its numbers are outside of PyTorch."""

_MOST_SPANS = 20

Canary = Sequence[Sequence[Any]]

Leaf = TypeVar("Leaf")


class _Uses(TorchFunctionMode):
    """Sees each use of PyTorch in Python."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0
        self.escapes: Counter[str] = Counter()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        name = getattr(func, "__name__", "")
        self.total += 1
        if name in _ESCAPES:
            self.escapes[_ESCAPES[name]] += 1
        return func(*args, **(kwargs or {}))


class _Operators(TorchDispatchMode):
    """Sees each operator that PyTorch dispatches."""

    def __init__(self, arguments: Any) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.counts: Counter[str] = Counter()
        self.collectives: Counter[str] = Counter()
        self.sent = 0
        self.transfers = self.transferred = self.waits = 0
        self.memory = _Memory(arguments)

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Keep PyTorch from importing its compiler (820 modules, about a second) at the first operator."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        name = func.overloadpacket.__name__
        self.counts[name] += 1
        result = func(*args, **(kwargs or {}))
        with torch._C.DisableTorchFunction():
            self._account(func, name, args, kwargs or {}, result)
        return result

    def _account(self, func: Any, name: str, args: Any, kwargs: Mapping[str, Any], result: Any) -> None:
        if func.namespace in _COLLECTIVES and name not in _NO_COLLECTIVES:
            self.collectives[name.strip("_")] += 1
            self.sent += 0 if name == "recv_" else _sent(func, args, kwargs)
        elif name in _MOVES:
            self._move(args[0], args[1] if name != "_to_copy" else result, kwargs)
        elif name == "_local_scalar_dense" and args[0].device.type != "cpu":
            self.waits += 1
        self.memory.see(_storages(result))

    def _move(self, one: torch.Tensor, other: torch.Tensor, kwargs: Mapping[str, Any]) -> None:
        if one.device != other.device:
            self.transfers += 1
            self.transferred += one.numel() * one.element_size()
            if "cpu" in (one.device.type, other.device.type) and not kwargs.get("non_blocking"):
                self.waits += 1


class _Memory:
    """New storages: bytes in all, bytes alive, and the most that were alive after an operator.

    Memory that an operator needs for itself and frees before it ends is not seen.
    """

    def __init__(self, arguments: Any) -> None:
        self.total = self.peak = 0
        self._old = {storage._cdata for storage in _storages(arguments)}
        self._arrays = [array_bounds(array) for array in _leaves(arguments, np.ndarray)]
        self._live: dict[int, tuple[StorageWeakRef, int]] = {}

    def see(self, storages: Iterator[torch.UntypedStorage]) -> None:
        """Take note of what an operator gave back."""
        for storage in storages:
            key, start = storage._cdata, storage.data_ptr()
            if key in self._old or any(low <= start < low + size for low, size in self._arrays):
                continue
            reference, size = self._live.get(key, (None, 0))
            if reference is None or reference.expired():
                reference, size = StorageWeakRef(storage), 0
            self.total += max(0, storage.nbytes() - size)
            self._live[key] = reference, storage.nbytes()
        self.peak = max(self.peak, self.alive())

    def alive(self) -> int:
        """Bytes of new storages that are still there."""
        self._live = {key: row for key, row in self._live.items() if not row[0].expired()}
        return sum(size for _, size in self._live.values())


def count(
    function: Callable[..., Any], before: Canary, after: Canary, args: list[Any], kwargs: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Call with gradients off; give the result and what was counted.

    Args:
        function: what is called.
        before: names of operators, each with a size and a number of times: run before the call, with a copy to another
            device each time, and counted with it.
        after: the same after the call.
        args: its arguments.
        kwargs: its named arguments.
    """
    machine = _Machine()
    versions = [tensor._version for tensor in _tensors([args, kwargs]) if not tensor.is_inference()]
    with torch.no_grad(), _Operators([args, kwargs]) as operators:
        _sing(before, machine.place)
        operators.memory.peak = 0
        with _Uses() as uses, machine.recorded():
            result = function(*args, **kwargs)
        peak = operators.memory.peak
        _sing(after, machine.place)
    now = [tensor._version for tensor in _tensors([args, kwargs]) if not tensor.is_inference()]
    return result, {
        "operations": dict(operators.counts),
        "uses": uses.total,
        "escapes": dict(uses.escapes),
        "bytes": operators.memory.total,
        "peak": peak,
        "collectives": dict(operators.collectives),
        "sent": operators.sent,
        "writes": sum(now) - sum(versions),
        **machine.since(operators),
        "spans": machine.spans,
        "span_count": machine.span_count,
    }


def warm_up() -> None:
    """Count something, in a process that forks: what PyTorch makes for the first count, its children have then."""
    count(lambda x: x[x > 0].square().sum(), [], [], [torch.zeros(8)], {})


class _Machine:
    """Copies and waits, as operators tell them and as a simulated accelerator counted them, if there is one.

    The accelerator sees more, such as the copy of a `tolist`. Of the two the larger is taken.

    Attributes:
        place: a device that is not the CPU: the accelerator, or one without memory.
        spans: the first things that took virtual time while it was recorded: name, place, start and end in seconds.
        span_count: how many there were.
    """

    def __init__(self) -> None:
        self.place = torch.device("meta")
        self.spans: list[list[Any]] = []
        self.span_count = 0
        self._clock: Clock | None = None
        self._counters: Callable[[], dict[str, Any]] | None = None
        if (machine := machine_or_none()) is not None:
            self.place = machine.devices[0].inner
            self._counters = machine.counters
            self._before = machine.counters()
            self._clock = machine.clock

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Keep the spans of what is done meanwhile."""
        first = len(self._clock.spans) if self._clock else 0
        yield
        if self._clock:
            spans = self._clock.spans[first:]
            self.span_count = len(spans)
            self.spans = [[row.name, row.place, float(row.start), float(row.end)] for row in spans[:_MOST_SPANS]]

    def since(self, operators: _Operators) -> dict[str, int]:
        """What was counted since this was made."""
        found = [operators.transfers, operators.transferred, operators.waits]
        if self._counters is not None:
            now = self._counters()
            seen = [int(now[name]) - int(self._before[name]) for name in ("transfers", "transferred_bytes", "syncs")]
            found = list(map(max, found, seen))
        return dict(zip(("transfers", "transferred", "waits"), found, strict=True))


def _sing(canary: Canary, place: torch.device) -> None:
    for name, size, times in canary:
        for _ in range(times):
            ones = torch.ones(size, dtype=torch.float32, device="cpu")  # whatever the student's defaults are
            getattr(torch.special, name)(ones).to(place)


def kept(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> int:
    """Bytes of arguments, and of new storages, that are still alive when the result and the arguments are dropped."""
    fresh, named = _fresh(args), {name: _fresh(value) for name, value in kwargs.items()}
    references = dict(map(_watched, _storages([fresh, named])))
    with torch.no_grad(), _Operators([fresh, named]) as operators:
        function(*fresh, **named)
    del fresh, named
    gc.collect()
    arguments = (size for reference, size in references.values() if not reference.expired())
    return int(operators.memory.alive()) + sum(arguments)


def poisoned(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Call where memory that nobody wrote to holds NaN, or the largest integer.

    PyTorch fills what `empty` gives. Besides, freed memory is left full of such numbers, for code that switches the
    filling off.
    """
    was = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    filled = torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    torch._C._set_deterministic_algorithms(True, warn_only=True)  # the public function imports PyTorch's compiler
    torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined]
    try:
        for power in range(4, 20):
            dirt = [torch.full((1 << power,), 0xFF, dtype=torch.uint8, device="cpu") for _ in range(8)]
            del dirt
        return function(*args, **kwargs)
    finally:
        torch._C._set_deterministic_algorithms(was[0], warn_only=was[1])
        torch.utils.deterministic.fill_uninitialized_memory = filled  # type: ignore[attr-defined]


def _fresh(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, (list, tuple)):
        return type(value)(_fresh(item) for item in value)
    return {key: _fresh(item) for key, item in value.items()} if isinstance(value, dict) else value


def _leaves(value: Any, kind: type[Leaf]) -> Iterator[Leaf]:
    """Everything of a kind in lists, tuples and dicts."""
    if isinstance(value, kind):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item, kind)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item, kind)


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    return _leaves(value, torch.Tensor)


def _storages(value: Any) -> Iterator[torch.UntypedStorage]:
    """The storages of all plain tensors that have memory; that of a simulated one is counted by its machine."""
    for tensor in _tensors(value):
        plain = type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.layout is torch.strided
        if plain and tensor.device.type != "meta":
            yield tensor.untyped_storage()


def _watched(storage: torch.UntypedStorage) -> tuple[int, tuple[StorageWeakRef, int]]:
    return storage._cdata, (StorageWeakRef(storage), storage.nbytes())


def _sent(func: Any, args: Any, kwargs: Mapping[str, Any]) -> int:
    """Bytes of the tensors that this rank hands to a collective."""
    given = dict(zip((argument.name for argument in func._schema.arguments), args, strict=False)) | dict(kwargs)
    name = next((name for name in _SENT if name in given), None)
    tensors = _tensors(given[name]) if name else ()
    return sum(int(tensor.numel() * tensor.element_size()) for tensor in tensors)
