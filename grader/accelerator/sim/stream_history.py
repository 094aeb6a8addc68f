"""Which streams were current when autograd graphs were made: backward runs each node on the same ones."""

from __future__ import annotations

import bisect
from collections import deque

import torch

from grader.accelerator.sim.clock import Queue

_next_number = torch._C._autograd._get_sequence_nr

_MOST = 1 << 16
"""As many changes are kept; older nodes count as made on the default streams."""


_HISTORIES: deque[StreamHistory] = deque(maxlen=256)
"""The histories of the threads that made a stream current, also of those that ended: their graphs may live on."""


class StreamHistory:
    """The changes of a thread's current streams, by the sequence numbers of autograd nodes.

    Backward looks up on which streams a node was made. If stream 3 of device 0 was current for the nodes 5 to 7,
    `streams_at(6)` is `{0: 3}`, and `streams_at(8)` is `{}`. A change after which no node was made is forgotten, so
    that a loader that copies on its own stream adds nothing.

    Attributes:
        queues: the queues of all streams but the default ones that ever were current in the thread.
    """

    def __init__(self) -> None:
        self.queues: set[Queue] = set()
        self._numbers: list[int] = []
        self._streams: list[dict[int, int]] = []

    def __bool__(self) -> bool:
        return bool(self._numbers)

    def record(self, streams: dict[int, int]) -> None:
        """Record the streams that are current from now on.

        Args:
            streams: the number of the current stream of each device, by the index of the device.
        """
        number, numbers = _next_number(), self._numbers
        while numbers and numbers[-1] >= number:
            numbers.pop()
            self._streams.pop()
        now = {index: stream for index, stream in streams.items() if stream}
        if now == (self._streams[-1] if numbers else {}):
            return
        if len(numbers) >= _MOST:
            del numbers[: _MOST // 2], self._streams[: _MOST // 2]
        if now and not self.queues:
            _HISTORIES.append(self)
        self.queues.update(now.items())
        numbers.append(number)
        self._streams.append(now)

    def streams_at(self, number: int) -> dict[int, int]:
        """Return the streams that were current when an autograd node was made, such as `{0: 3}`.

        The keys are the indices of the devices, the values the numbers of their streams. A device is missing if its
        default stream was current.

        Args:
            number: the sequence number of the node.
        """
        place = bisect.bisect_right(self._numbers, number)
        return self._streams[place - 1] if place else {}

    def of_graph(self, home: Queue) -> StreamHistory:
        """Return the history of the thread that made a graph, which may not be the current thread.

        The sequence numbers of nodes begin anew in each thread, and Python cannot ask a node for its thread. So the
        stream identifies it, provided that two threads share no stream.

        Args:
            home: the queue on which the root of backward was made.
        """
        if home[1] and home not in self.queues:
            return next((other for other in reversed(_HISTORIES) if home in other.queues), self)
        return self
