"""The engine that is asked for. Here is the one of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from grader.diagnosis.known import Known
from grader.engine.desk import Desk
from grader.grading import Sheet
from grader.lanes.pool import Pool, open_pool

LOCAL = "local"


class Engine(Protocol):
    """Does work. Open it once, close it.

    Attributes:
        slots: how much is done at once.
    """

    slots: int

    def submit(self, work: bytes) -> Future[bytes]:
        """Have a `Work` done; the future gives an `Answer`, or raises what kept it from being done."""


class Lanes:
    """Lanes of this machine.

    Args:
        pool: the lanes.
        grade: what is done with work in a lane.
    """

    def __init__(self, pool: Pool, grade: Callable[..., bytes]) -> None:
        self.slots = pool.slots
        self._pool = pool
        self._grade = grade

    def submit(self, work: bytes) -> Future[bytes]:
        """Have it done in the next lane that is free."""
        return self._pool.submit(lambda lane: self._grade(lane, work))


@contextmanager
def open_engine(
    spec: str, sheet: Sheet, slots: int, *, hidden: Sequence[Path] = (), mistakes: Path | None = None
) -> Iterator[Engine]:
    """An engine for the exercises of a sheet. Nothing is started before there is work.

    Args:
        spec: which: `local`.
        sheet: what is graded, and how.
        slots: how much may be done at once.
        hidden: folders that no student code may see.
        mistakes: where it is kept how wrong answers behave, if anywhere.
    """
    with open_pool(sheet.exercises, sheet.setup, slots, hidden) as pool:
        yield Lanes(pool, Desk(sheet, Known(sheet.setup, mistakes)).grade)
