"""The virtual clock: the host submits work and goes on, devices do it in order, and some calls of the host wait."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from grader.accelerator.timeline import Span

Queue = tuple[int, int]
"""A queue of work, that is a stream: the index of its device and its number there; 0 is the default stream."""

OF_COLLECTIVES = -1
"""The number of the stream on which NCCL works."""


Traffic = tuple[int, Sequence[tuple[int, ...]]]
"""How many bytes work moves, and the shapes of its tensors."""

NO_TRAFFIC: Traffic = (0, ())
"""The traffic of work whose bytes and shapes are not recorded."""


Unit = tuple[int, str]
"""A part of a device that does one thing at a time: the index of the device, and what the part does."""


@dataclass(slots=True)
class BusySpans:
    """The spans of virtual time for which a part of a device is busy, in order and without an overlap."""

    taken: list[tuple[float, float]] = field(default_factory=list)

    def reserve(self, start: float, seconds: float, now: float) -> float:
        """Reserve the first free span of this length, and return its start.

        If the part is busy from 0.0 to 2.0, `reserve(1.0, 3.0, 0.0)` returns 2.0, and the part is busy from 0.0 to 5.0.

        Args:
            start: the earliest time at which it may begin.
            seconds: the length of the span; for 0 nothing is reserved, and `start` is returned.
            now: the host's clock; spans that end before it are dropped, so no later `start` may lie before it.
        """
        taken = self.taken
        while taken and taken[0][1] < now:
            del taken[0]
        if seconds <= 0:
            return start
        if not taken or start > taken[-1][1]:
            taken.append((start, start + seconds))  # behind all that is taken, as nearly all work is
            return start
        place = len(taken) if start == taken[-1][1] else 0
        while place < len(taken) and start + seconds > taken[place][0]:
            start = max(start, taken[place][1])
            place += 1
        self._insert_span(place, start, start + seconds)
        return start

    def _insert_span(self, place: int, start: float, end: float) -> None:
        # What follows without a gap is one span: however much a queue is given, the list stays short.
        before = place > 0 and self.taken[place - 1][1] == start
        after = place < len(self.taken) and self.taken[place][0] == end
        first = self.taken[place - 1][0] if before else start
        last = self.taken[place][1] if after else end
        self.taken[place - before : place + after] = [(first, last)]


_QUERY = 1e-6
"""The seconds that the host takes to ask the driver whether work is done."""

_make_span: Callable[[tuple[object, ...]], Span] = functools.partial(tuple.__new__, Span)
"""Makes a span of all its values, as `Span._make` does, and without Python code: each operator makes two."""


@dataclass(slots=True)
class Clock:
    """Virtual time: `host` is the host's clock, and `ready` has the moment at which each queue will be empty.

    Spans are for drawing; a program that runs for hours must not fill the memory with them. So only the first `most`
    are kept, and `count` says how many there were. `on_span` is a callback for each span; it gets `host` as well.
    """

    host: float = 0.0
    ready: dict[Queue, float] = field(default_factory=dict)
    units: dict[Unit, BusySpans] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)
    count: int = 0
    most: int = 20_000
    on_span: Callable[[Span, float], None] | None = None
    queries: int = 0
    """How many queries in a row were answered with no, up to the time `queried`."""
    queried: float = -1.0

    def add_work(
        self,
        name: str,
        queues: Sequence[Queue],
        host_seconds: float,
        seconds: float,
        unit: str,
        busy: float,
        traffic: Traffic = NO_TRAFFIC,
    ) -> None:
        """Add a kernel or a copy to the queues that run it.

        The host's clock advances by the time of its launch. On an idle device, a launch of 5 µs at the moment 0 lets a
        kernel of 2 µs run from 5 µs to 7 µs.

        Args:
            name: the name of the kernel or the copy.
            queues: one queue, or for a copy between two devices a queue of each.
            host_seconds: the seconds that the host takes to launch it.
            seconds: the seconds from its begin to its end on the device.
            unit: the part of the device that runs it: "kernels", or a direction in which bytes go.
            busy: the seconds, from its begin, during which no other work can use that part; at most `seconds`.
            traffic: the number of bytes that it moves, and the shapes of its tensors; for drawing.
        """
        before, ready = self.host, self.ready
        # A queue begins when the host has handed the work over and all that came before is done, whichever is later.
        start = self.host = before + host_seconds
        if keeps := self.needs_spans():
            self.record_span(f"launch {name}", "host", before, start)
        elif start > before:
            self.count += 1
        for queue in queues:
            if (moment := ready.get(queue, 0.0)) > start:
                start = moment
        for place in {queue[0] for queue in queues} if len(queues) > 1 else (queues[0][0],):
            # However many streams there are, a device has its arithmetic, its memory and its bus once.
            if (part := self.units.get((place, unit))) is None:
                part = self.units[place, unit] = BusySpans()
            start = part.reserve(start, busy, self.host)
        end = start + seconds
        for queue in queues:
            ready[queue] = end
            if keeps:
                self.record_span(name, str(queue[0]), start, end, queue[1], unit, traffic)
            elif end > start:
                self.count += 1

    def needs_spans(self) -> bool:
        """Return whether the next span of virtual time is needed: for a drawing or a callback.

        A span is a piece of work with its begin and end, such as a kernel from 5 µs to 7 µs. It is needed if fewer than
        `most` spans were kept so far, or if `on_span` is set. Otherwise spans are only counted.
        """
        return len(self.spans) < self.most or self.on_span is not None

    def pass_time(self, seconds: float, name: str) -> None:
        """Advance the host's clock by seconds in which the host works.

        These seconds are recorded as a span with this name.
        """
        end = self.host + seconds
        self.record_span(name, "host", self.host, end)
        self.host = end

    def query(self, moment: float) -> bool:
        """Return whether a moment of virtual time has come.

        If it has not, the query takes a microsecond of the host's time, and one more for each such query right before
        it. So a loop of queries ends, also one that sleeps between them, which takes no virtual time.
        """
        if moment <= self.host:
            return True
        self.queries = self.queries + 1 if self.host == self.queried else 1
        self.pass_time(self.queries * _QUERY, "query")
        self.queried = self.host
        return False

    def wait(self, name: str, queues: list[Queue]) -> None:
        """Let the host wait until all these queues are empty.

        The wait is recorded as a span, `wait for NAME`.
        """
        moment = 0.0
        for queue in queues:
            moment = max(moment, self.ready.get(queue, 0.0))
        self.wait_until(name, moment)

    def wait_until(self, name: str, moment: float) -> None:
        """Let the host wait until a moment of virtual time.

        The wait is recorded as a span, `wait for NAME`. For a moment in the past, the host does not wait.
        """
        if moment > self.host:
            self.record_span(f"wait for {name}", "host", self.host, moment)
            self.host = moment

    def queues(self, index: int) -> list[Queue]:
        """Return the queues of a device that were used since the last reset."""
        return [queue for queue in self.ready if queue[0] == index]

    def idle_at(self, index: int) -> float:
        """Return the virtual time, in seconds, at which all queues of a device will be empty.

        It is 0.0 if none was used.
        """
        return max((self.ready[queue] for queue in self.queues(index)), default=0.0)

    def record_span(
        self,
        name: str,
        place: str,
        start: float,
        end: float,
        stream: int = 0,
        unit: str = "",
        traffic: Traffic = NO_TRAFFIC,
    ) -> None:
        """Record a span of virtual time, and call `on_span` with it.

        Args:
            name: the name of the work.
            place: "host", or the index of the device as text.
            start: its begin, in virtual seconds.
            end: its end, in virtual seconds; a span without duration is left out.
            stream: the number of the stream of the device.
            unit: the part of the device that did it.
            traffic: the number of bytes that it moves, and the shapes of its tensors.
        """
        # What took no time is left out: it would take the place of something that did.
        if end <= start:
            return
        self.count += 1
        # Those that are there, and not those that ever were: somebody may have taken some out.
        keeps = len(self.spans) < self.most
        if not keeps and self.on_span is None:
            return
        nbytes, shapes = traffic
        span = _make_span((name, place, start, end, stream, unit, nbytes, tuple(shapes)))
        if keeps:
            self.spans.append(span)
        if self.on_span is not None:
            self.on_span(span, self.host)
