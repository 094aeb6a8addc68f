"""The host, at the other end of the channel. Imported before torch is, and imports what is light itself."""

from __future__ import annotations

from grader.model import Outcome
from grader.model.messages import Collected, Done, Job, Message, Plan, Spawned, from_frame, to_frame
from grader.wire.bounds import ChannelClosed
from grader.wire.frames import Channel


class Host:
    """The host: gives a session its work, and gets the outcomes.

    Args:
        channel: to it.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._plan: Plan | None = None

    def plan(self) -> Plan | None:
        """What this process is there for, or None if the host is gone."""
        message = self._next()
        assert message is None or isinstance(message, Plan)
        return message

    def next_plan(self) -> Plan | None:
        """The plan that came instead of a job; None if none did, and all is over."""
        plan, self._plan = self._plan, None
        return plan

    def next_job(self) -> Job | None:
        """The next job, or None at the end, which another plan is, too."""
        message = self._next()
        if isinstance(message, Plan):
            self._plan = message
            return None
        assert message is None or isinstance(message, Job)
        return message

    def _next(self) -> Message | None:
        try:
            frame = self._channel.receive()
        except ChannelClosed:
            return None
        return from_frame(frame.tree, frame.data)

    def tell(self, message: Collected | Spawned | Outcome | Done) -> None:
        """Tell what was collected, once; an outcome after each check; that a job is done."""
        self._channel.send(0, *to_frame(message))
