"""Asks one worker: a message, its reply, and what both ends have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from grader.model import Verdict
from grader.model.endings import CannotJudge, WorkerLost
from grader.model.public import say
from grader.remote.ahead import Ahead
from grader.remote.around import Around
from grader.remote.errors import Errors
from grader.remote.journal import Journal
from grader.remote.lent import Lent
from grader.remote.raised import Raised, exception_of
from grader.remote.sitting import Sitting
from grader.wire import requests
from grader.wire.exchange import Exchange
from grader.wire.frames import Frame, ProtocolFault
from grader.wire.incoming import Incoming
from grader.wire.outgoing import Outgoing

_MOST_REASON = 300

Leave = Callable[[bool], Callable[[], None]]
"""Told when a worker is asked, and whether it may learn of inputs by that; what it gives, when it has answered."""


def _go_on() -> None:
    """Where nobody was told to pause."""


@dataclass
class Asker:
    """Asks the worker of a sitting.

    Attributes:
        sitting: whose worker is asked.
        seed: what student code's generators are seeded with, in each check.
        leave: told when a worker is asked; gives what is told when it has answered.
    """

    sitting: Sitting
    seed: int = 0
    leave: Leave | None = None

    def __post_init__(self) -> None:
        self.exchange = self._new_exchange()
        self._seeded = False
        self._word = ""
        self._lent: Lent | None = None
        self._ahead: Ahead | None = None
        self.journal, self.errors, self.around = Journal(), Errors(), Around()

    def names(self) -> dict[str, str]:
        """Load the module if need be; see `Side`."""
        raise NotImplementedError

    def _new_exchange(self) -> Exchange:
        raise NotImplementedError

    def settle(self) -> None:
        """Read what answers of calls made ahead are still to come."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            ahead.settle()

    def ready(self) -> None:
        """Make the worker ready to be asked: all that it had to say was read, and the module is loaded.

        Raises:
            CannotJudge: it does not load.
            WorkerLost: the worker was lost.
        """
        self.settle()  # first, as a worker may be lost by that
        self.names()

    def _message(self) -> Outgoing:
        """A new message to the worker."""
        self.ready()
        return Outgoing(self.exchange)

    def _ask(self, request: requests.Request, out: Outgoing, seconds: float, what: str) -> Any:
        """Send a request whose values were written; give what came of it, or raise what student code raised."""
        asked, data = self._asked(request, out, what)
        # A worker is loaded when it is new, which hangs on what ran before: inputs must not.
        if self._lent is not None:
            self._lent.before_call()
        overwritten = len(self.exchange.overwritten)
        resume = self._pause(learns=not isinstance(request, (requests.Load, requests.LoadProbe)))
        try:
            frame = self.sitting.ask(asked, data, seconds, what)
        finally:
            resume()
        try:
            result = self.taken(frame, what)
        finally:
            out.release()
            self.agreed()
        if self._lent is not None:
            self._lent.after_call(self.exchange.overwritten[overwritten:])
        return result

    def _asked(self, request: requests.Request, out: Outgoing, what: str) -> tuple[requests.Asked, list[bytes]]:
        """A request whose values were written, as it is sent, and its memory; it is taken down."""
        objects, data = out.finish()
        # What messages call an object that comes of it: a word of the check's.
        self._word = what.split("`")[1] if "`" in what else what
        seed = None if self._seeded else self.seed
        self._seeded = True
        asked = requests.Asked(request, objects, seed, torch.is_grad_enabled(), self.around.seeded())
        self.journal.take_down(asked, data, what)
        return asked, data

    def taken(self, frame: Frame, what: str) -> Any:
        """What came of a request, taken into the table; or what student code raised is raised."""
        try:
            return self.read(frame, what)
        except ProtocolFault as fault:
            lost = WorkerLost(Verdict.CRASHED, say("{} gave the grader something it cannot take", what), fault)
            self.sitting.lose(lost)
            raise lost from None

    def agreed(self) -> None:
        """Both ends have agreed, for now."""
        self.exchange.end_call()
        self.exchange.hold()

    @contextmanager
    def not_counted(self, *, learns: bool = True) -> Iterator[None]:
        """Time that a worker takes is not counted as the check's own; `learns`: it may learn of inputs meanwhile."""
        resume = self._pause(learns=learns)
        try:
            yield
        finally:
            resume()

    def _pause(self, *, learns: bool) -> Callable[[], None]:
        return self.leave(learns) if self.leave else _go_on

    def read(self, frame: Frame, what: str, exchange: Exchange | None = None) -> Any:
        """The value of a reply, or the exception that student code raised.

        Args:
            frame: the reply.
            what: what was called, for messages.
            exchange: a table of its own for a timed call.

        Raises:
            ProtocolFault: it is no reply.
            CannotJudge: the value cannot be handed over.
        """
        # Objects and memory first: what student code did to its arguments before it raised counts, too.
        incoming = Incoming(exchange or self.exchange, frame.tree.get("objects"), frame.data)
        reply = requests.Reply.read(frame.tree)
        if reply.raised is not None:
            raised = Raised.of(reply.raised, what, self.sitting.owner)
            raise exception_of(raised, self.errors.kind(raised.family), incoming.value(reply.raised.value))
        if reply.unsupported is not None:
            text = say("{} returned something that cannot be graded", what)
            raise CannotJudge(text, f"{text}\n{reply.unsupported[:_MOST_REASON]}")
        return incoming.value(reply.result)
