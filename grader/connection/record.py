"""What one check did through one connection: its calls, what student code changed, and what was counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from grader.model import Speed
from grader.model.endings import WorkerLost
from grader.wire.call import EncodedCall
from grader.wire.decode import Change
from grader.wire.frames import Budget
from grader.wire.memory import address_range
from grader.wire.table import nested_values
from grader.worker_process.waiting import MAX_RECEIVED


@dataclass(frozen=True)
class Call:
    """One call that a check made, for the lines that reproduce it; on several ranks, that of the first.

    Attributes:
        name: the name of the function.
        args: its arguments; if a probe of the exercise calls it, those of the probe, which may be others.
        kwargs: the same for arguments by name.
        ranks: the number of ranks that call it at the same time.
        by_probe: True if a probe of the exercise calls it.
    """

    name: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    ranks: int = 1
    by_probe: bool = False

    @property
    def values(self) -> tuple[Any, ...]:
        """Return all arguments, those by name last: `(1, 2)` for the call `f(1, y=2)`."""
        return (*self.args, *self.kwargs.values())


@dataclass(frozen=True)
class SentCall:
    """A call as it was sent to a worker; its arguments are decoded when somebody reads them.

    Attributes:
        name: the name of the function.
        encoded: the message, in which the arguments are noted.
        names: the names of the last arguments.
        ranks: the number of ranks that call it at the same time.
        by_probe: True if a probe of the exercise calls it, whose arguments these are.
    """

    name: str
    encoded: EncodedCall
    names: tuple[str, ...]
    ranks: int
    by_probe: bool = False

    def read(self) -> Call:
        """Return the call with its arguments as they were sent."""
        values = self.encoded.noted_values()
        count = len(values) - len(self.names)
        kwargs = dict(zip(self.names, values[count:], strict=True))
        return Call(self.name, tuple(values[:count]), kwargs, self.ranks, self.by_probe)


@dataclass
class Record:
    """The record of one check: its calls, what they changed, and losses.

    Attributes:
        seed: the seed of the generators that student code draws from.
        renew: a function that is called before a worker learns of inputs: it renews the stream that they are drawn
            from, so that what the worker sees says nothing of later ones. None for a reference.
        copying: True if student code gets copies, so that nothing it does to its arguments reaches the check.
        rewrite: makes the arguments of a call anew before they are sent; None if they are sent as they are.
        recording: True if calls are kept, for the lines that reproduce them.
        unconfirmed: True if a speed verdict against the student is measured again later, and decides nothing now.
        sent: the calls, while they are recorded.
        calls_made: the number of calls, whether they are recorded or not.
        arguments: the arguments of the only call so far, by position and by name; none after a second one.
        called: the names of the functions that were called, that which was called last at the end.
        probes: the names among these that are of functions of a probe.
        nothing: the names in messages of the functions whose last call returned None.
        printing: the names in messages of the functions that printed while calls were recorded.
        changes: the changes that student code made to its arguments, in order.
        watched: True if the check examines what becomes of its arguments.
        withheld: while copying, the arguments that student code got copies of.
        budget: the memory that all replies together may take.
        counters: counts for the report, by name.
        speed: the measurements for the report.
        lost: the exception that says why the worker was lost; None if it was not.
    """

    seed: int = 0
    renew: Callable[[], None] | None = None
    copying: bool = False
    rewrite: Callable[..., tuple[Any, ...]] | None = None
    recording: bool = False
    unconfirmed: bool = False
    sent: list[SentCall] = field(default_factory=list)
    calls_made: int = 0
    arguments: tuple[Any, ...] = ()
    called: dict[str, None] = field(default_factory=dict)
    probes: set[str] = field(default_factory=set)
    nothing: dict[str, None] = field(default_factory=dict)
    printing: set[str] = field(default_factory=set)
    changes: list[Change] = field(default_factory=list)
    watched: bool = False
    withheld: list[Any] = field(default_factory=list)
    budget: Budget = field(default_factory=lambda: Budget(MAX_RECEIVED))
    counters: dict[str, int] = field(default_factory=dict)
    speed: list[Speed] = field(default_factory=list)
    lost: WorkerLost | None = None

    def add_call(self, call: Call, encoded: EncodedCall) -> None:
        """Add a call to `sent`, with its arguments as they were encoded for the worker."""
        self.sent.append(SentCall(call.name, encoded, tuple(call.kwargs), call.ranks, call.by_probe))

    def calls(self) -> list[Call]:
        """Return the calls with their arguments as they were sent."""
        return [sent.read() for sent in self.sent]

    def begin_call(self, name: str, *, of_probe: bool) -> None:
        """Record that a function is called now: its name becomes the last in `called`.

        Args:
            name: the name of the function in messages.
            of_probe: True if the function is a probe, which `functions_called` leaves out.
        """
        self.called.pop(name, None)
        self.called[name] = None
        (self.probes.add if of_probe else self.probes.discard)(name)

    def functions_called(self) -> tuple[str, ...]:
        """Return the names in `called` of functions that may be to blame: those without probes.

        A probe may make an input; then the function that takes this input is to blame. After calls of the probe `make`
        and of `total`, it is `("total",)`. If all are probes, all are returned.
        """
        return tuple(name for name in self.called if name not in self.probes) or tuple(self.called)

    def has_weak_input(self) -> bool:
        """Return whether the only call of the check had inputs that hide mistakes.

        That is so if it had tensors or arrays as arguments, and all of them are empty or constant, such as
        `torch.zeros(3)`.
        """
        if self.calls_made != 1:
            return False
        with self.arguments_as_they_were():
            given = [
                each for each in nested_values(list(self.arguments)) if isinstance(each, (torch.Tensor, np.ndarray))
            ]
            return bool(given) and all(map(_is_constant, given))

    @contextmanager
    def arguments_as_they_were(self) -> Iterator[None]:
        """Undo the changes that student code made to the check's values, while the block runs."""
        for change in reversed(self.changes):
            change.swap()
        try:
            yield
        finally:
            for change in self.changes:
                change.swap()


def _is_constant(value: torch.Tensor | np.ndarray[Any, Any]) -> bool:
    """Return whether a tensor or an array is empty or has equal elements.

    One element alone does not count as equal elements.
    """
    size = value.numel() if isinstance(value, torch.Tensor) else value.size
    return size == 0 or (size > 1 and bool((value == value.flatten()[0]).all()))


# Check files call `assert_close` and its like with values alone, and pytest gives a check function nothing but its
# fixtures, so that only the context says which check compares. It is set while a check runs, and at no other time.
_comparing: ContextVar[Record | None] = ContextVar("_comparing", default=None)


@contextmanager
def recording_comparisons(record: Record) -> Iterator[None]:
    """Set the record that `note_comparison` and `note_arguments_examined` use in the block.

    The functions that call these two, such as `assert_close`, get values alone and do not know which check runs.
    """
    token = _comparing.set(record)
    try:
        yield
    finally:
        _comparing.reset(token)


def note_arguments_examined() -> None:
    """Record that the check examines whether student code changed its arguments."""
    if (record := _comparing.get()) is not None:
        record.watched = True


def note_comparison(value: Any) -> None:
    """Record that the check compares an argument that student code got.

    Then the check examines what becomes of its arguments. A value that shares memory with an argument counts, too.
    Nothing is recorded unless student code gets copies.

    Args:
        value: the value that the check compares.
    """
    record = _comparing.get()
    if record is None or not record.copying:
        return
    if any(_overlaps(value, other) for other in nested_values(record.withheld)):
        record.watched = True


def _overlaps(value: Any, other: Any) -> bool:
    """Return whether two values are the same list or dict, or share memory."""
    if not all(isinstance(each, (torch.Tensor, np.ndarray)) for each in (value, other)):
        return other is value and isinstance(value, (list, dict))
    (start, end), (first, last) = address_range(value), address_range(other)
    return first < end and start < last
