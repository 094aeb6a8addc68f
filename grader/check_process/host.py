"""The host, at the other end of the channel. Imported before torch is, and imports what is light itself."""

from __future__ import annotations

from grader.model import Outcome
from grader.model.messages import Collected, Done, Message, Spawned, from_frame, to_frame
from grader.wire.frames import Channel
from grader.wire.transport import ChannelClosed


class Host:
    """The host, which sends plans and jobs, and receives outcomes.

    Args:
        channel: the channel to the host.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def receive(self) -> Message | None:
        """Wait for the next plan or job, and return it; None if the host has closed the channel."""
        try:
            frame = self._channel.receive()
        except ChannelClosed:
            return None
        return from_frame(frame.tree, frame.data)

    def send(self, message: Collected | Spawned | Outcome | Done) -> None:
        """Send a message to the host.

        It has the collected checks, the id of a process, the outcome of a check, or that a job is done.
        """
        self._channel.send(0, *to_frame(message))
