"""What a batch has on a machine of a cluster: the course, unpacked, and lanes. It knows nothing of any cluster."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from pathlib import Path

from grader.cluster.machine import Machine, this_machine
from grader.cluster.parcel import Parcel
from grader.grading.desk import Desk
from grader.grading.known import Known
from grader.model.errors import GraderError, StartError
from grader.runner.pool import Pool, Stopped, open_pool

_CLOSED = "its lanes are closed"


class Station:
    """Lanes for one batch. Open and close it in one thread, which lives until then: worker servers end with it.

    Args:
        sent: the parcel.
        asked: what is asked of this machine.
        slots: how many lanes there are.
        folder: in which a folder of its own is made for the course.
    """

    def __init__(self, sent: bytes, asked: Machine, slots: int, folder: Path) -> None:
        self._sent = sent
        self._asked = asked
        self._slots = slots
        self._folder = folder
        self._stack = ExitStack()
        self._pool: Pool | None = None
        self._desk: Desk | None = None
        self._lock = threading.Lock()
        self._busy = 0
        self._at_work = time.monotonic()

    def open(self) -> None:
        """Examine this machine, unpack the course, and start what workers are forked from.

        Raises:
            GraderError: this machine is not what is asked for.
        """
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        parcel = Parcel.from_bytes(self._sent)
        if wrong := this_machine(parcel.setup).why_not(self._asked):
            raise StartError("it has " + "; ".join(wrong))
        try:
            # Readable by us alone: references and hidden checks are in it.
            folder = Path(tempfile.mkdtemp(prefix="grade-course-", dir=self._folder))
            self._stack.callback(shutil.rmtree, folder, ignore_errors=True)
            sheet = parcel.unpack(folder)
        except OSError as error:
            raise StartError(f"the course cannot be unpacked in {self._folder}: {error.strerror}") from None
        self._pool = self._stack.enter_context(open_pool(sheet.exercises, sheet.setup, self._slots, (folder,)))
        self._desk = Desk(sheet, Known(sheet.setup))
        # The first look at how well it confines; a machine that does not is to be known before it has work.
        self._pool.submit(lambda lane: lane.reached).result()

    def grade(self, work: bytes) -> bytes:
        """Grade one exercise of one submission in a lane.

        Raises:
            GraderError: no lane is to be had here any more.
        """
        pool, desk = self._pool, self._desk
        if pool is None or desk is None:
            raise StartError(_CLOSED)
        with self._at_it():
            try:
                return pool.submit(lambda lane: desk.grade(lane, work)).result()
            except (Stopped, CancelledError):
                raise StartError(_CLOSED) from None

    @contextmanager
    def _at_it(self) -> Iterator[None]:
        with self._lock:
            self._busy += 1
        try:
            yield
        finally:
            with self._lock:
                self._busy -= 1
                self._at_work = time.monotonic()

    @property
    def idle_s(self) -> float:
        """For how many seconds nothing was asked of it."""
        return 0.0 if self._busy else time.monotonic() - self._at_work

    def close(self) -> None:
        """End the lanes, and remove the course."""
        self._pool = self._desk = None
        self._stack.close()


def told(error: GraderError) -> str:
    """What keeps a machine from work, in one line."""
    return " ".join(str(error).split())
