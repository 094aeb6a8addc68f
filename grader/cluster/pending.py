"""Work that is away on a cluster, whose machines may be lost with it. It knows nothing of Dask but the futures."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial

from grader.grading.graded import lost, to_told
from grader.grading.origin import as_handed_in
from grader.grading.work import Answer, Work
from grader.model import Exercise
from grader.model.errors import GraderError, StartError

_GONE = "the cluster was lost, with what was under way; the same command goes on from there"


class Pending:
    """Work that is away. What becomes of it is told by futures of our own, which outlive those of the cluster.

    Args:
        send: hands work to the cluster.
        was_lost: whether that is how a future of the cluster's ends when machines were lost with it.
        exercises: that work may be of.
    """

    def __init__(
        self,
        send: Callable[[bytes], Future[bytes]],
        was_lost: Callable[[BaseException], bool],
        exercises: Mapping[str, Exercise],
    ) -> None:
        self._send = send
        self._was_lost = was_lost
        self._exercises = exercises
        self._lock = threading.Lock()
        self._away: dict[Future[bytes], tuple[bytes, Future[bytes] | None]] = {}

    def submit(self, work: bytes) -> Future[bytes]:
        """Send it."""
        own: Future[bytes] = Future()
        own.set_running_or_notify_cancel()
        self._hand_over(own, work)
        return own

    def _hand_over(self, own: Future[bytes], work: bytes) -> None:
        with self._lock:
            self._away[own] = work, None
        theirs = self._send(work)
        with self._lock:
            self._away[own] = work, theirs
        theirs.add_done_callback(partial(self._came, own))

    def send_again(self) -> None:
        """Send all that is away once more: machines are there again after there was none that knew of it."""
        with self._lock:
            away = list(self._away.items())
        for own, (work, theirs) in away:
            self._hand_over(own, work)
            if theirs is not None:
                theirs.cancel()

    def fail(self, error: GraderError | None = None) -> None:
        """Have all that is away end with an error; without one, by the end of the run, nobody waits for it."""
        with self._lock:
            away, self._away = self._away, {}
        for own, (_, theirs) in away.items():
            if theirs is not None:
                theirs.cancel()
            if error is not None:
                own.set_exception(error)

    def __len__(self) -> int:
        return len(self._away)

    def _came(self, own: Future[bytes], theirs: Future[bytes]) -> None:
        with self._lock:
            # One that was sent again, or given up, is waited for no more.
            if self._away.get(own, (b"", None))[1] is not theirs:
                return
            work, _ = self._away.pop(own)
        if theirs.cancelled():
            own.set_exception(StartError(_GONE))
        elif (error := theirs.exception()) is None:
            own.set_result(theirs.result())
        elif self._was_lost(error):
            own.set_result(self._broken(Work.from_bytes(work), error))
        else:
            own.set_exception(error)

    def _broken(self, work: Work, error: BaseException) -> bytes:
        """The answer for what was lost too often: the one that is never a zero."""
        graded = lost(self._exercises[work.exercise], str(error))
        return Answer(to_told(as_handed_in(graded, work.submission)), level="").to_json()
