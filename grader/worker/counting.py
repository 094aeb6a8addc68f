"""What one call costs, counted beside student code: operators, memory, copies and waits, collectives, ways out.

What is counted here is a claim: the code that is counted could tamper with it. So known operations and copies
(`canary`) run before and after the call and must show, and the two hooks see the same loop; a check looks at time
besides.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from grader.accelerator.clock import Clock
from grader.accelerator.machine import machine_or_none
from grader.wire.cost import Cost
from grader.worker import unset
from grader.worker.hooks import Operators, Uses, storages, tensors, watched

_MOST_SPANS = 20

Canary = Sequence[Sequence[Any]]


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
    # Held, as the call may put others in their places. Tensors made in inference mode have no version to ask for.
    given = [tensor for tensor in tensors([args, kwargs]) if not tensor.is_inference()]
    versions = sum(tensor._version for tensor in given)
    with torch.no_grad(), Operators([args, kwargs]) as operators:
        machine.sing(before)
        # The canaries' own memory must show in the total, and must not count for the peak.
        operators.memory.peak = 0
        with Uses() as uses, machine.recorded():
            result = function(*args, **kwargs)
        # Read before the second canary: what is wanted is the peak of the call.
        peak = operators.memory.peak
        machine.sing(after)
    transfers, transferred, syncs = machine.since(operators)
    return result, vars(
        Cost(
            ops=dict(operators.counts),
            uses=uses.total,
            escapes=dict(uses.escapes),
            bytes=operators.memory.total,
            peak=peak,
            transfers=transfers,
            transferred=transferred,
            syncs=syncs,
            collectives=dict(operators.collectives),
            sent=operators.sent,
            versions=sum(tensor._version for tensor in given) - versions,
            spans=machine.spans,
            span_count=machine.span_count,
        )
    )


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
        # Our own copies need another device to go to. Where there is none, this one takes a copy and holds no memory.
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

    def sing(self, canary: Canary) -> None:
        """Run operators of our own, with their copies, which no drawing of virtual time shows."""
        first = len(self._clock.spans) if self._clock else 0
        for name, size, times in canary:
            for _ in range(times):
                ones = torch.ones(size, dtype=torch.float32, device="cpu")  # whatever the student's defaults are
                getattr(torch.special, name)(ones).to(self.place)
        if self._clock:
            del self._clock.spans[first:]

    def since(self, operators: Operators) -> list[int]:
        """Copies, bytes copied and waits since this was made."""
        found = [operators.transfers, operators.transferred, operators.syncs]
        if self._counters is not None:
            now = self._counters()
            names = ("transfers", "transferred_bytes", "syncs")
            found = list(map(max, found, (int(now[name]) - int(self._before[name]) for name in names)))
        return found


def kept(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> int:
    """Bytes of arguments, and of new storages, that are still alive when the result and the arguments are dropped."""
    # Copies, because what came over the wire is held by the tables here and would be alive in any case.
    fresh, named = _fresh(args), {name: _fresh(value) for name, value in kwargs.items()}
    references = dict(map(watched, storages([fresh, named])))
    with torch.no_grad(), Operators([fresh, named]) as operators:
        function(*fresh, **named)
    del fresh, named
    # What only a circle of references holds is not kept: it goes at the next collection.
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
    unset.fill(False)  # else this call would find there what all other calls find
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
        unset.fill(True)


def _fresh(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, (list, tuple)):
        return type(value)(_fresh(item) for item in value)
    return {key: _fresh(item) for key, item in value.items()} if isinstance(value, dict) else value
