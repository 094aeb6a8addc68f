"""What one check did through one connection: its calls, what student code changed, what was counted and measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from mmap import mmap
from typing import Any, Self

import numpy as np
import torch

from grader.model import Speed
from grader.model.endings import WorkerLost
from grader.wire.decode import Change, copies
from grader.wire.frames import Budget, Unsupported
from grader.wire.memory import place_of
from grader.wire.table import parts

MAX_RECEIVED = 512 << 20
"""Bytes that the replies to one check may hold together."""

_MUCH = MAX_RECEIVED // 2
"""Replies that hold more bytes can cost the check process its memory later too, when the check works with them."""


class Waiting:
    """The time that this process waits for workers; it is not the check's own. `with waiting(...)` counts it."""

    def __init__(self) -> None:
        self.no_core_s: float | None = None  # of workers, while this process waited for them, in this job
        self._since = 0.0
        self._depth = 0
        self._total = 0.0
        self._student = False
        self.mark: bytearray | mmap = bytearray(1)  # the host sees it: whether a loss now is due to a student's replies

    def __call__(self, *, student: bool) -> Self:
        """`with waiting(student=True):` the reply is the student's."""
        self._student = student
        return self

    def __enter__(self) -> None:
        if self._depth == 0:
            self._since = time.monotonic()
            self.mark[0] = self._student or _holds_much()
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._total += time.monotonic() - self._since
            self.mark[0] = _holds_much()

    @property
    def is_on(self) -> bool:
        """Whether it waits now."""
        return self._depth > 0

    def seconds(self) -> float:
        """All of it so far, with the wait that goes on now."""
        return self._total + (time.monotonic() - self._since if self._depth else 0.0)


waiting = Waiting()


@dataclass(frozen=True)
class Call:
    """One call that a check made, for the lines that reproduce it; on several ranks, that of the first."""

    name: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    ranks: int = 1


@dataclass
class Record:
    """What a check did through a connection. A new one begins with each check.

    Attributes:
        seed: of the generators that student code draws from.
        renew: of a student's check: called before a worker learns of inputs; it renews the stream that they are drawn
            from, so that what the worker sees says nothing of later ones.
        copying: whether student code gets copies, so that nothing it does to its arguments reaches the check.
        rewrite: makes the arguments of a call anew before they are sent; None if they are sent as they are.
        recording: whether calls are kept, for the lines that reproduce them.
        unconfirmed: whether a speed verdict against the student is measured again later, and decides nothing now.
        calls: the calls, while they are recorded.
        called: names of the functions that were called, that which was called last at the end.
        printing: what functions are called in messages that printed while calls were recorded.
        changes: what student code changed of its arguments, in order.
        watched: whether the check examines what becomes of its arguments.
        withheld: while copying, the arguments that student code got copies of.
        budget: what all replies together may take.
        counters, speed: for the report: counts by name, and what was measured.
        lost: why the worker was lost, if it was.
    """

    seed: int = 0
    renew: Callable[[], None] | None = None
    copying: bool = False
    rewrite: Callable[..., tuple[Any, ...]] | None = None
    recording: bool = False
    unconfirmed: bool = False
    calls: list[Call] = field(default_factory=list)
    called: dict[str, None] = field(default_factory=dict)
    printing: set[str] = field(default_factory=set)
    changes: list[Change] = field(default_factory=list)
    watched: bool = False
    withheld: list[Any] = field(default_factory=list)
    budget: Budget = field(default_factory=lambda: Budget(MAX_RECEIVED))
    counters: dict[str, int] = field(default_factory=dict)
    speed: list[Speed] = field(default_factory=list)
    lost: WorkerLost | None = None

    def add_call(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], ranks: int) -> None:
        """Note a call with its arguments."""
        # Copies, as the function may change its arguments before the call is read.
        with suppress(Unsupported):
            args, kwargs = copies(args, dict(kwargs))
        self.calls.append(Call(name, args, kwargs, ranks))

    def begin_call(self, name: str) -> None:
        """Note that a function is called now, after all others."""
        self.called.pop(name, None)
        self.called[name] = None

    @contextmanager
    def arguments_as_they_were(self) -> Iterator[None]:
        """Meanwhile the check's values are as they were before student code changed them."""
        for change in reversed(self.changes):
            change.swap()
        try:
            yield
        finally:
            for change in self.changes:
                change.swap()


_current = [Record()]  # a check process runs one check at a time


def begin(record: Record) -> None:
    """A check begins: this is the student's record."""
    _current[0] = record
    waiting.mark[0] = 0


def _holds_much() -> bool:
    return _current[0].budget.left < MAX_RECEIVED - _MUCH


def watch() -> None:
    """The check examines what becomes of its arguments."""
    _current[0].watched = True


def compare(value: Any) -> None:
    """The check compares a value with what is expected: if student code got a copy of it, the check examines that."""
    record = _current[0]
    if record.copying and any(_overlaps(value, other) for other in parts(record.withheld)):
        record.watched = True


def _overlaps(value: Any, other: Any) -> bool:
    """Whether two values are the same list or dict, or lie in the same memory."""
    if not all(isinstance(each, (torch.Tensor, np.ndarray)) for each in (value, other)):
        return other is value and isinstance(value, (list, dict))
    (start, end), (first, last) = place_of(value), place_of(other)
    return first < end and start < last
