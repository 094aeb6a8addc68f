"""The engine that is asked for: lanes of this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Protocol

from grader.grading.desk import Desk
from grader.grading.grade import Sheet
from grader.grading.known import Known
from grader.model.errors import CourseError
from grader.runner.pool import Pool, open_pool

LOCAL = "local"


class Engine(Protocol):
    """Does work. Open it once, close it."""

    @property
    def slots(self) -> int:
        """How much is done at once, just now."""

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


class WhenAsked:
    """An engine that is opened by the first work that it is given.

    Args:
        opened: opens it.
    """

    def __init__(self, opened: Callable[[], Engine]) -> None:
        self._opened = opened
        self._engine: Engine | None = None

    @property
    def slots(self) -> int:
        """How much is done at once."""
        return 1 if self._engine is None else self._engine.slots

    def submit(self, work: bytes) -> Future[bytes]:
        """Have it done."""
        if self._engine is None:
            self._engine = self._opened()
        return self._engine.submit(work)


@contextmanager
def open_engine(
    spec: str,
    sheet: Sheet,
    slots: int,
    *,
    hidden: Sequence[Path] = (),
    mistakes: Path | None = None,
    note: Callable[[str], None] = lambda told: None,
) -> Iterator[Engine]:
    """An engine for the exercises of a sheet. Nothing is started before there is work.

    Args:
        spec: which: `LOCAL`, or where a cluster is; see `open_cluster`.
        sheet: what is graded, and how.
        slots: how much may be done at once.
        hidden: folders that no student code may see.
        mistakes: where it is kept how wrong answers behave, if anywhere; each machine of a cluster finds it out.
        note: told what somebody should know of the machines of a cluster.

    With the first work comes a CourseError if there is no such cluster, or if none of its machines can do it.
    """
    if spec != LOCAL:
        with ExitStack() as stack:
            yield WhenAsked(lambda: stack.enter_context(_cluster(spec, sheet, slots, note)))
        return
    with open_pool(sheet.exercises, sheet.setup, slots, hidden) as pool:
        yield Lanes(pool, Desk(sheet, Known(sheet.setup, mistakes)).grade)


def _cluster(spec: str, sheet: Sheet, slots: int, note: Callable[[str], None]) -> AbstractContextManager[Engine]:
    try:
        from grader.cluster.cluster import open_cluster
    except ImportError as error:
        raise CourseError(
            f"--cluster needs dask.distributed ({error}); install it with  pip install 'tensorgrade[cluster]'"
        ) from None
    return open_cluster(spec, sheet, slots, note)
