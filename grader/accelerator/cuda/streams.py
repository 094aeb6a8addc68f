"""Streams and events of a simulated device, on the virtual clock."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import torch

from grader.accelerator.core.accumulators import record_accumulator_streams
from grader.accelerator.refusals import refusal
from grader.accelerator.sim.clock import Queue
from grader.accelerator.sim.cuda_errors import cuda_error
from grader.accelerator.sim.machine import Machine, the_machine
from grader.accelerator.sim.races import VectorClock

if TYPE_CHECKING:
    from grader.accelerator.sim.capture import Capture


_event_ids = itertools.count(1)


class Unpicklable:
    """An object of the driver's, which cannot be pickled, nor copied, as PyTorch's classes in C++ cannot."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")


class Stream(Unpicklable):
    """A simulated stream: the numbers of its work are computed at once, and its times are virtual."""

    def __init__(
        self,
        device: Any = None,
        priority: int = 0,
        *,
        stream_id: int | None = None,
        device_index: int | None = None,
        device_type: int | None = None,
    ) -> None:
        del device_type
        machine = the_machine()
        index = machine.index_of(device if device_index is None else device_index)
        if stream_id is None:
            machine.streams[index] = stream_id = machine.streams.get(index, 0) + 1
            # A new stream has nothing to do; from now on `synchronize` waits for it, too.
            machine.clock.ready[index, stream_id] = machine.clock.host
            if not machine.races.several:
                machine.races.several = True
                record_accumulator_streams()
        self.device = machine.devices[index].public
        self.device_index = index
        self.stream_id = stream_id
        self.priority = priority
        self._contexts: list[stream] = []

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """Return the least and the greatest priority: (0, -3). They change nothing here."""
        return 0, -3

    @property
    def queue(self) -> Queue:
        """The queue of the stream on the virtual clock: the index of its device, and its number.

        It is (0, 0) for the default stream of device 0.
        """
        return (self.device_index, self.stream_id)

    @property
    def cuda_stream(self) -> int:
        """The address of the stream, which differs from those of other devices; 0 is a default stream."""
        return self.stream_id and self.device_index << 32 | self.stream_id

    @property
    def native_handle(self) -> int:
        """The same number, as PyTorch 2.11 calls it for streams of any device."""
        return self.cuda_stream

    def synchronize(self) -> None:
        """Block the host until all work that was submitted to the stream is done."""
        the_machine().wait("synchronize", [self.queue])

    @property
    def device_type(self) -> int:
        """The value that CUDA has in PyTorch's enum `DeviceType`."""
        return 1

    def query(self) -> bool:
        """Return whether all work that was submitted to the stream is done.

        If it is done, the race detector takes the call for a wait of the host. Raise while a CUDA graph captures the
        stream.
        """
        machine = the_machine()
        if machine.capture is not None and self.queue in machine.capture.queues:
            raise machine.capture.invalidate("Unsupported")
        done = machine.clock.query(machine.clock.ready.get(self.queue, 0.0))
        if done:
            machine.races.record_host_wait([self.queue])
        return done

    def is_capturing(self) -> bool:
        """Return whether a CUDA graph captures the stream's work."""
        capture = the_machine().capture
        return capture is not None and self.queue in capture.queues

    def record_event(self, event: AnyEvent | None = None) -> AnyEvent:
        """Record an event on this stream, after the work that was submitted so far."""
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: AnyEvent) -> None:
        """Let this stream wait for an event.

        Only work that is submitted to the stream after the call waits. An event that was not recorded changes nothing.
        """
        machine = the_machine()
        ready = machine.clock.ready
        # An event that was not recorded is past; waiting for it changes nothing, as on CUDA.
        ready[self.queue] = max(ready.get(self.queue, 0.0), event.moment or 0.0)
        machine.races.record_wait(self.queue, event.seen)
        if machine.capture is not None and event.moment is not None:
            machine.capture.record_wait(self.queue, event, from_this_capture=event.capture is machine.capture)

    def wait_stream(self, stream: Stream) -> None:
        """Let this stream wait for the work submitted to `stream` so far.

        Only work that is submitted to this stream after the call waits.
        """
        self.wait_event(stream.record_event())

    def __enter__(self) -> Stream:
        self._contexts.append(stream(self))
        self._contexts[-1].__enter__()
        return self

    def __exit__(self, *unused: object) -> None:
        self._contexts.pop().__exit__()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.queue == other.queue

    def __hash__(self) -> int:
        return hash(self.queue)

    def __repr__(self) -> str:
        return f"<torch.{self.device.type}.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class AnyEvent(Unpicklable):
    """The simulated `torch.Event`: the moment at which a stream has done the work it was given before `record`."""

    def __init__(
        self, device: Any = None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        del device, blocking, interprocess
        self.enable_timing = enable_timing
        self.event_id = 0  # until it is recorded
        self.device: torch.device | None = None  # that of the stream that it is recorded in
        self.moment: float | None = None
        self.seen: VectorClock = {}
        self.capture: Capture | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Record the event on a stream, after the work that was submitted so far.

        The virtual time of the event is the time at which this work will be done. `stream` is the current stream by
        default.
        """
        machine = the_machine()
        clock = machine.clock
        stream = stream or current_stream()
        if self.device not in (None, stream.device):
            raise RuntimeError(
                f"Event device {self.device.index} does not match recording stream's device {stream.device.index}."
            )
        self.device, queue = stream.device, stream.queue
        self.event_id = self.event_id or next(_event_ids)
        # An empty queue is done now, not when it did its last work.
        self.moment = max(clock.host, clock.ready.get(queue, 0.0))
        self.seen = machine.races.vector_clock_of(queue)
        capture = machine.capture
        self.capture = capture if capture is not None and queue in capture.queues else None
        if self.capture is not None:
            self.capture.record_event(queue, self)

    def synchronize(self) -> None:
        """Block the host until the work that was submitted before the event was recorded is done."""
        machine = the_machine()
        self._refuse_in_capture()
        # Not by `Machine.wait`: the host waits for one moment, not until a queue is empty.
        machine.tally.syncs["synchronize"] = machine.tally.syncs.get("synchronize", 0) + 1
        machine.clock.wait_until("event", self.moment or 0.0)
        machine.races.record_wait(None, self.seen)
        for place in machine.devices:
            machine.check_fault(place.index)

    def wait(self, stream: Stream | None = None) -> None:
        """Let a stream wait for the event.

        Only work that is submitted to the stream after the call waits. `stream` is the current stream by default.
        """
        (stream or current_stream()).wait_event(self)

    def query(self) -> bool:
        """Return whether the work that was submitted before the event was recorded is done.

        True for an event that was not recorded. If the work is done, the race detector takes the call for a wait of the
        host.
        """
        self._refuse_in_capture()
        machine = the_machine()
        done = machine.clock.query(self.moment or 0.0)
        if done:
            machine.races.record_wait(None, self.seen)
        return done

    def _refuse_in_capture(self) -> None:
        capture = the_machine().capture
        if capture is None or self.moment is None:
            return
        if self.capture is capture:
            raise capture.invalidate("CapturedEvent")
        capture.check_unsafe_call()

    def elapsed_time(self, end: AnyEvent) -> float:
        """Return the virtual milliseconds from this event to the event `end`."""
        if not (self.enable_timing and end.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self.moment is None or end.moment is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        if not (self.query() and end.query()):
            raise RuntimeError("Both events must be completed before calculating elapsed time.")
        if self.device != end.device:
            raise cuda_error("invalid resource handle", "cudaErrorInvalidResourceHandle")
        return (end.moment - self.moment) * 1e3

    def __repr__(self) -> str:
        moment = "uninitialized" if self.moment is None else f"{self.moment:.9f} s"
        return f"<torch.{the_machine().kind}.Event {moment}>"


class Event(AnyEvent):
    """The simulated `torch.cuda.Event`: it is made without a device, and its arguments need no names."""

    @property
    def cuda_event(self) -> int:
        """The number of the event; 0 until it is recorded."""
        return self.event_id

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, external: bool = False
    ) -> None:
        if external:
            raise refusal("events with external=True are not supported on the simulated device")
        super().__init__(enable_timing=enable_timing, blocking=blocking, interprocess=interprocess)


def current_stream(device: Any = None) -> Stream:
    """Return the current stream of a device."""
    machine = the_machine()
    place = machine.devices[machine.index_of(device)]
    return Stream(place.index, stream_id=place.stream)


def default_stream(device: Any = None) -> Stream:
    """Return the default stream of a device."""
    return Stream(device, stream_id=0)


def set_stream(stream: Stream | None) -> None:
    """Make a stream and its device the current ones; None changes nothing."""
    if stream is not None:
        machine = the_machine()
        machine.current = stream.device_index
        machine.devices[stream.device_index].stream = stream.stream_id


class stream:  # noqa: N801
    """A context in which a stream is the current one; None changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream
        self.idx = the_machine().current
        self.src_prev_stream: Stream | None = None
        self.dst_prev_stream: Stream | None = None

    def __enter__(self) -> None:
        if self.stream is None:
            return
        # Both are put back afterwards: which device is current, and which stream is on the stream's own device.
        self.src_prev_stream, self.dst_prev_stream = current_stream(), current_stream(self.stream.device_index)
        set_stream(self.stream)

    def __exit__(self, *unused: object) -> None:
        if self.stream is not None:
            set_stream(self.dst_prev_stream)
            set_stream(self.src_prev_stream)


class device:  # noqa: N801
    """A context in which a device is the current one; None or a negative index changes nothing."""

    def __init__(self, device: Any) -> None:
        machine = the_machine()
        # As `torch.cuda.device` does: code passes -1 for tensors that are on no device.
        nothing = device is None or (isinstance(device, int) and device < 0)
        self.idx = machine.current if nothing else machine.index_of(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        machine: Machine = the_machine()
        self.prev_idx, machine.current = machine.current, self.idx

    def __exit__(self, *unused: object) -> None:
        the_machine().current = self.prev_idx


class device_of(device):  # noqa: N801
    """A context in which the device of a tensor is the current one."""

    def __init__(self, tensor: torch.Tensor) -> None:
        super().__init__(tensor.device if the_machine().is_simulated(tensor.device) else None)


stream.__module__, stream.__qualname__ = "torch.cuda", "StreamContext"
