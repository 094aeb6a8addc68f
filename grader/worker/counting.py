"""What one call costs, counted beside student code: operators, memory, copies and waits, collectives, escapes.

A dispatch mode sees each operator that runs, with the tensors that it takes and makes. A function mode sees each use of
PyTorch in Python, also those that run no operator, such as `tolist`.

Student code could switch either off, or change the counts: they explain a result. What decides points is the text of
the submission (`check.source`), and time and memory that are measured from outside.
"""

from __future__ import annotations

import functools
import os
import sys
import types
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from grader.accelerator.sim.machine import machine_or_none
from grader.accelerator.timeline import Span
from grader.wire.memory import address_range
from grader.wire.table import nested_values
from grader.worker.importer import OwnModules
from grader.worker.surroundings import fill_memory

_COLLECTIVES = ("c10d", "_c10d_functional", "_c10d_functional_autograd")
_NO_COLLECTIVES = ("wait_tensor", "_wrap_tensor_autograd")
_SENT = ("input_tensors", "input_tensor", "input", "inputs", "tensors", "tensor", "self")
"""Names of the argument that holds what a rank sends, the best first."""

_MOST_SPANS, _MOST_LINES = 12, 8
_MOVES = ("_to_copy", "copy_", "_copy_from")
_ESCAPES = {name: name for name in ("tolist", "numpy", "item", "data_ptr", "apply_", "map_")} | {
    "__array__": "numpy",
    "__dlpack__": "dlpack",
    "__float__": "float",
    "__int__": "int",
    "__index__": "int",
    "__complex__": "complex",
    "untyped_storage": "storage",
    "map2_": "map_",
}
"""Uses of a tensor after which its numbers are outside of PyTorch, or Python has been called for each of them."""


def count_costs(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Call a function with gradients off, and return its result and its costs.

    For `x * 2` with three elements the costs have `{"ops": {"mul": 1}, "bytes": 12, "peak": 12}`, and the other counts
    that `check.costs.Counts` names.

    Args:
        function: the student's function.
        args: its arguments.
        kwargs: its arguments by name.
    """
    machine = machine_or_none()
    before = machine.counters() if machine else {}
    first = len(machine.clock.spans) if machine else 0
    # Held, as the call may put others in their places. Tensors made in inference mode have no version.
    given = [
        each for each in nested_values([args, kwargs]) if isinstance(each, torch.Tensor) and not each.is_inference()
    ]
    versions = sum(tensor._version for tensor in given)
    with torch.no_grad(), Operators([args, kwargs]) as operators, Uses() as uses, LineCounter() as lines:
        result = function(*args, **kwargs)
    costs = operators.costs | {
        "ops": dict(operators.counts),
        "escapes": dict(uses.escapes),
        "lines": dict(lines.counts.most_common(_MOST_LINES)),
        "line_count": lines.counts.total(),
        "bytes": operators.memory.total,
        "peak": operators.memory.peak,
        "collectives": dict(operators.collectives),
        "versions": sum(tensor._version for tensor in given) - versions,
    }
    if machine is not None:
        # The simulated accelerator sees more than the hook, such as the copy of a `tolist`.
        now = machine.counters()
        for name, counter in (("transfers", "transfers"), ("transferred", "transferred_bytes"), ("syncs", "syncs")):
            costs[name] = max(costs[name], int(now[counter]) - int(before[counter]))
    spans = machine.clock.spans[first:] if machine else []
    return result, costs | {"moments": rows_of(spans[:_MOST_SPANS]), "moment_count": len(spans)}


def rows_of(spans: Sequence[Span]) -> list[list[Any]]:
    """Turn spans of virtual time, such as kernels and copies, into rows that can be sent.

    A row has the name, place, start, end, stream, unit, bytes and shapes of a span:

        ["add", "0", 0.0, 2e-06, 0, "kernels", 12, [[3]]]
    """

    def row(one: Span) -> list[Any]:
        times = float(one.start), float(one.end)
        return [one.name, one.place, *times, one.stream, one.unit, one.nbytes, [list(shape) for shape in one.shapes]]

    return [row(one) for one in spans]


def warm_up() -> None:
    """Count the costs of one call before workers are forked.

    So the workers inherit what PyTorch sets up in such a call.
    """
    count_costs(lambda x: x[x > 0].square().sum(), [torch.zeros(8)], {})


def call_with_poisoned_memory(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Call a function while uninitialized memory holds NaN, and return its result.

    In dtypes of integers it holds the largest integer. PyTorch fills the memory that `empty` returns. Student code can
    switch that off, so freed memory is filled with NaN before the call, too: the allocator reuses it first.

    Args:
        function: the student's function.
        args: its arguments.
        kwargs: its arguments by name.
    """
    was = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    filled = torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    fill_memory(False)  # else this call would find what all other calls find
    torch._C._set_deterministic_algorithms(True, warn_only=True)  # the public function imports PyTorch's compiler
    torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined]
    try:
        # All bits set: NaN in every floating type. Eight blocks of each size, freed at once, lie where the allocator
        # looks first.
        for power in range(4, 20):
            dirt = [torch.full((1 << power,), 0xFF, dtype=torch.uint8, device="cpu") for _ in range(8)]
            del dirt
        return function(*args, **kwargs)
    finally:
        torch._C._set_deterministic_algorithms(was[0], warn_only=was[1])
        torch.utils.deterministic.fill_uninitialized_memory = filled  # type: ignore[attr-defined]
        fill_memory(True)


class LineCounter:
    """Counts the lines that run in the submission's own files, and the calls of its functions.

    A comprehension is a line for each of its elements. What loops in C, such as `sorted` or `sum` over a list, is one.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._start = next((f"{each.folder}{os.sep}" for each in sys.meta_path if isinstance(each, OwnModules)), "")

    def __enter__(self) -> LineCounter:
        if self._start:
            sys.settrace(self._trace_call)
        return self

    def __exit__(self, *raised: object) -> None:
        sys.settrace(None)

    def _trace_call(self, frame: types.FrameType, event: str, arg: object) -> Callable[..., Any] | None:
        """Return the tracer of lines for a function of the submission, None for any other.

        Python calls this for each call of a function, after `sys.settrace`.
        """
        if not frame.f_code.co_filename.startswith(self._start):
            return None
        return self._trace_line(frame, "line", arg)

    def _trace_line(self, frame: types.FrameType, event: str, arg: object) -> Callable[..., Any]:
        if event == "line":
            self.counts[f"{frame.f_code.co_filename.removeprefix(self._start)}, line {frame.f_lineno}"] += 1
        return self._trace_line


class Uses(TorchFunctionMode):
    """A mode that counts the uses of tensors in Python that take their numbers out of PyTorch, such as `tolist`."""

    def __init__(self) -> None:
        super().__init__()
        self.escapes: Counter[str] = Counter()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        name = getattr(func, "__name__", "")
        if name in _ESCAPES:
            self.escapes[_ESCAPES[name]] += 1
        return func(*args, **(kwargs or {}))


class Operators(TorchDispatchMode):
    """A mode that counts the operators that PyTorch dispatches, and what they cost."""

    def __init__(self, arguments: Any) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.counts: Counter[str] = Counter()
        self.collectives: Counter[str] = Counter()
        self.costs: dict[str, Any] = dict.fromkeys(("transfers", "transferred", "syncs", "sent"), 0)
        self.memory = _StorageCounter(arguments)

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False, so that the first operator does not import PyTorch's compiler.

        The compiler has 820 modules, and its import takes about a second.
        """
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        name = func.overloadpacket.__name__
        self.counts[name] += 1
        result = func(*args, **(kwargs or {}))
        # We use PyTorch to look at tensors; the other hook must not count that as the student's use.
        with torch._C.DisableTorchFunction():
            self._count_operator(func, name, args, kwargs or {}, result)
        return result

    def _count_operator(self, func: Any, name: str, args: Any, kwargs: Mapping[str, Any], result: Any) -> None:
        if func.namespace in _COLLECTIVES and name not in _NO_COLLECTIVES:
            self.collectives[name.strip("_")] += 1
            # Receiving is a collective as well, and hands nothing over.
            self.costs["sent"] += 0 if name == "recv_" else _bytes_sent(func, args, kwargs)
        elif name in _MOVES:
            self._count_transfer(args[0], args[1] if name != "_to_copy" else result, kwargs)
        elif name == "_local_scalar_dense" and args[0].device.type != "cpu":
            self.costs["syncs"] += 1
        self.memory.count(storages(result))

    def _count_transfer(self, one: torch.Tensor, other: torch.Tensor, kwargs: Mapping[str, Any]) -> None:
        if one.device != other.device:
            self.costs["transfers"] += 1
            self.costs["transferred"] += one.numel() * one.element_size()
            self.costs["syncs"] += "cpu" in (one.device.type, other.device.type) and not kwargs.get("non_blocking")


class _StorageCounter:
    """Counts the bytes of new storages: in all, alive, and the most that were alive after an operator.

    Memory that an operator needs for itself and frees before it ends is not seen.
    """

    def __init__(self, arguments: Any) -> None:
        self.total = self.peak = 0
        self._old = {storage._cdata for storage in storages(arguments)}
        self._arrays = [address_range(each) for each in nested_values(arguments) if isinstance(each, np.ndarray)]
        self._alive = 0
        self._live: dict[int, tuple[weakref.ref[torch.UntypedStorage], int]] = {}

    def count(self, storages: Iterator[torch.UntypedStorage]) -> None:
        """Add the bytes of storages that an operator returned to the totals.

        A new storage counts in full, an older one by its growth, and one of the arguments not at all.
        """
        for storage in storages:
            key, start = storage._cdata, storage.data_ptr()
            # Memory of an argument is not new, nor is a tensor over an array that was given: it has a storage of its
            # own, at the array's address.
            if key in self._old or any(low <= start < high for low, high in self._arrays):
                continue
            # Weak, so that counting keeps nothing alive. PyTorch keeps the Python object of a storage as long as the
            # storage itself, so it goes when the memory is freed, whoever held it.
            reference, size = self._live.get(key) or (
                weakref.ref(storage, functools.partial(self._forget_storage, key)),
                0,
            )
            # A storage can grow in place; then only what was added is new.
            self.total += max(0, storage.nbytes() - size)
            self._alive += storage.nbytes() - size
            self._live[key] = reference, storage.nbytes()
        self.peak = max(self.peak, self._alive)

    def _forget_storage(self, key: int, _: object) -> None:
        """Subtract the bytes of a freed storage from those that are alive.

        A weak reference calls this before new memory can get the same address.
        """
        self._alive -= self._live.pop(key)[1]


def storages(value: Any) -> Iterator[torch.UntypedStorage]:
    """Yield the storages of all plain strided tensors in a value.

    Tensors on the meta device or a simulated device are left out; the simulated device counts its own memory.
    """
    for tensor in nested_values(value):
        plain = type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.layout is torch.strided
        if plain and tensor.device.type != "meta":
            yield tensor.untyped_storage()


def _bytes_sent(func: Any, args: Any, kwargs: Mapping[str, Any]) -> int:
    """Return how many bytes of tensors this rank sends in a call of a collective."""
    given = dict(zip((argument.name for argument in func._schema.arguments), args, strict=False)) | dict(kwargs)
    sent = next((given[name] for name in _SENT if name in given), None)
    return sum(
        int(each.numel() * each.element_size()) for each in nested_values(sent) if isinstance(each, torch.Tensor)
    )
