"""Calls that a worker makes one after the other, ahead of the check that looks at their answers.

They are asked for with one message. Each has a reply of its own, with the time that a call has, and the check meets
what came of it when it asks for that one: it sees what it would see if it made the calls itself. What is left over when
it asks for something else is read first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from grader.model.endings import WorkerLost
from grader.wire.frames import Frame
from grader.wire.outgoing import Outgoing

if TYPE_CHECKING:
    from grader.remote.side import Side


class Answer(NamedTuple):
    """What came of a call: its value, or what is raised for it."""

    value: Any = None
    error: Exception | None = None


class Ahead:
    """The answers to one message.

    Args:
        side: whose worker makes the calls.
        out: the message, which is about to be sent.
        count: of the calls.
        seconds: CPU seconds allowed for each.
        what: is called, for messages.
    """

    def __init__(self, side: Side, out: Outgoing, count: int, seconds: float, what: str) -> None:
        self._side, self._sitting = side, side.sitting
        self._worker = self._sitting.live_worker()
        self._out = out
        self._left = count
        self._seconds = seconds
        self._what = what
        self._printed = self._worker.printed()
        self._answers: deque[Answer] = deque()
        # Until the last one is read: the worker does not know which of them the check has dropped.
        self._kept: list[Any] = []

    def take(self) -> Answer | None:
        """The next answer; None where none comes any more: then the call is still to be made.

        Raises:
            WorkerLost: there was no reply.
        """
        if not self._answers:
            if not self._comes_more():
                return None
            self._answers.append(self._next(self._sitting.more))
        return self._answers.popleft()

    def settle(self) -> None:
        """Read what is still to come. A worker that is lost with it is ended: the check has not asked for that yet."""
        while self._comes_more():
            try:
                self._answers.append(self._next(self._worker.more))
            except WorkerLost:
                self._sitting.close()
        if self._left:  # and none of it comes any more
            self._end()

    def _comes_more(self) -> bool:
        return self._left > 0 and self._sitting.worker is self._worker

    def _next(self, read: Callable[[float, str], Frame]) -> Answer:
        side = self._side
        with side.not_counted(learns=False):
            frame = read(self._seconds, self._what)
        self._left -= 1
        if side.recording and self._worker.printed() > self._printed:
            side.printing.add(self._what)
        try:
            self._kept.append(side.taken(frame, self._what))
            return Answer(self._kept[-1])
        except Exception as error:
            return Answer(error=error)
        finally:
            if self._left:
                side.agreed()
            else:
                self._end()

    def _end(self) -> None:
        self._left = 0
        self._kept.clear()
        self._out.release()
        self._side.agreed()
