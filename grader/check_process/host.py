"""The host, at the other end of the channel. Imported before torch is, and imports what is light itself."""

from __future__ import annotations

from grader.model import Outcome
from grader.model.messages import Collected, Done, Message, Spawned, from_frame, to_frame
from grader.wire.frames import Channel
from grader.wire.transport import ChannelClosed


class Host:
    """The host: gives a session its plans and jobs, and gets the outcomes.

    Args:
        channel: to it.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def receive(self) -> Message | None:
        """Return the next plan or job; None if the host is gone, and all is over."""
        try:
            frame = self._channel.receive()
        except ChannelClosed:
            return None
        return from_frame(frame.tree, frame.data)

    def send(self, message: Collected | Spawned | Outcome | Done) -> None:
        """Send what was collected, once; an outcome after each check; that a job is done."""
        self._channel.send(0, *to_frame(message))
