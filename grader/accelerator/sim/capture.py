"""The record of a CUDA graph while it is captured: its kernels, the memory that they use, and how to run them again."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from grader.accelerator.sim.clock import Clock, Queue
from grader.accelerator.sim.cuda_errors import cuda_error
from grader.accelerator.sim.generator import SimGenerator
from grader.accelerator.sim.races import Block, Races

_NOT_PINNED = (
    "Cannot copy between CPU and CUDA tensors during CUDA graph capture unless the CPU tensor is pinned. Please use "
    "tensor.pin_memory() or allocate the tensor with pin_memory=True."
)

_FOREIGN = (
    "RNG op during graph capture but generator is not registered with the capturing graph. Call "
    "graph.register_generator_state() before capture_begin()."
    if torch.__version__ >= "2.11"
    else "Attempt to increase offset for a CUDA generator not in capture mode."
)

_REGISTERS = torch.__version__ >= "2.14"
"""Whether an operator that draws during a capture registers its generator with the graph."""

# PyTorch checks both before it calls the driver, so that the capture stays valid. 2.10 lets the driver refuse the copy.
_CHECKS_COPIES = torch.__version__ >= "2.11"

_ERRORS = {
    "Unsupported": "operation not permitted when stream is capturing",
    "Invalidated": "operation failed due to a previous error during capture",
    "Unjoined": "capturing stream has unjoined work",
    "Implicit": "operation would make the legacy stream depend on a capturing blocking stream",
    "Isolation": "dependency created on uncaptured work in another stream",
    "CapturedEvent": "operation not permitted on an event last recorded in a capturing stream",
}


class Capture:
    """The record of a CUDA graph: the work that streams are given while they capture.

    As operators run at once, the numbers of this work are computed during the capture, too; `restore` undoes that.

    Attributes:
        queues: the queues that capture: the one on which the capture began, and those that waited for it.
        steps: the functions that compute the numbers again, in order, at each replay.
        timed: the functions, called with a `Replay`, that add the work to its virtual clock, in order.
        copies: the asynchronous copies from and to pinned memory: how the race detector records each at a replay, and
            its pinned tensor.
    """

    def __init__(self, races: Races, queue: Queue, generators: list[SimGenerator], mode: str) -> None:
        self._races = races
        self._mode = mode
        self._thread = threading.get_ident()
        self.origin = queue
        self.queues = {queue}
        self.steps: list[Callable[[], None]] = []
        self.timed: list[Callable[[Replay], None]] = []
        self.reads: list[weakref.ref[Block]] = []
        self.writes: list[weakref.ref[Block]] = []
        self.copies: list[tuple[Callable[[torch.Tensor], None], torch.Tensor]] = []
        self.broken = False
        self._generators = generators
        self._states = [generator.get_state() for generator in generators]
        self._saved: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self._new_memory: dict[int, torch.Tensor] = {}

    def invalidate(self, kind: str) -> Exception:
        """Mark this capture as failed, and return CUDA's error to raise.

        Args:
            kind: a key of `_ERRORS`, such as "Unsupported" for a call that is not permitted during capture.
        """
        self.broken = True
        name = kind if kind == "CapturedEvent" else f"StreamCapture{kind}"
        return cuda_error(_ERRORS[kind], f"cudaError{name}")

    # -- recording

    def save_before_write(self, into: Iterable[torch.Tensor]) -> None:
        """Save the bytes of tensors that are about to be written to; `restore` restores them."""
        for tensor in into:
            key = tensor.untyped_storage()._cdata
            if key not in self._saved and key not in self._new_memory:
                whole = _bytes_of(tensor)
                self._saved[key] = whole, whole.clone()

    def record_operator(self, again: Callable[[], Any], out: Any, fresh: Sequence[torch.Tensor]) -> None:
        """Record an operator that ran during the capture, so that each replay runs it again.

        Args:
            again: a function that runs the operator again.
            out: the result of the run during the capture.
            fresh: the tensors of `out` that have new memory; each replay copies its results into them.
        """
        for tensor in fresh:
            self._new_memory[tensor.untyped_storage()._cdata] = _bytes_of(tensor)

        def run() -> None:
            if not fresh:
                again()
                return
            for old, new in zip(_leaves(out), _leaves(again()), strict=True):
                if any(old is tensor for tensor in fresh):
                    old.copy_(new)

        self.steps.append(run)

    def record_new_memory(self, fresh: Sequence[torch.Tensor]) -> None:
        """Record tensors whose memory is new, so that `restore` sets it to zero.

        No kernel has written to this memory.
        """
        for tensor in fresh:
            self._new_memory[tensor.untyped_storage()._cdata] = _bytes_of(tensor)

    def record_accesses(self, reads: Sequence[Block], writes: Sequence[Block]) -> None:
        """Record the blocks of memory that each replay of the graph reads and writes."""
        self.reads += [weakref.ref(block) for block in reads]
        self.writes += [weakref.ref(block) for block in writes]

    def check_generator(self, generator: Any) -> None:
        """Raise `RuntimeError` for a generator that is not registered with the graph.

        Since PyTorch 2.14, register it.
        """
        if any(
            generator._cdata == known._cdata  # type: ignore[attr-defined]
            for known in self._generators
        ):
            return
        if not _REGISTERS:
            raise RuntimeError(_FOREIGN)
        self._generators.append(generator)
        self._states.append(generator.get_state())

    def add_work(self, name: str, queue: Queue, seconds: float, unit: str, busy: float, traffic: Any) -> None:
        """Record a kernel or a copy, with the time that it will take at each replay.

        Args:
            name: the name of the operator, or the direction of the copy.
            queue: the queue of the stream.
            seconds: the seconds from its begin to its end on the device.
            unit: the part of the device that runs it.
            busy: the seconds, from its begin, during which no other work can use that part.
            traffic: the number of bytes that it moves, and the shapes of its tensors.
        """
        self.timed.append(lambda replay: replay.add_work(name, queue, seconds, unit, busy, traffic))

    def check_copy(self, *, pinned: bool, host_waits: bool) -> None:
        """Raise an error if a graph cannot capture a copy.

        The host's memory must be pinned, and the host must not wait.

        Args:
            pinned: True if the host's memory is pinned, or the copy is between devices.
            host_waits: True if the host waits for the copy.
        """
        if not pinned and _CHECKS_COPIES:
            raise RuntimeError(_NOT_PINNED)
        if host_waits or not pinned:
            raise self.invalidate("Unsupported")

    def check_unsafe_call(self) -> None:
        """Raise an error if the capture forbids potentially unsafe calls in this thread.

        Such a call is one that queries an event, or that waits for an event or for a stream that does not capture. The
        mode "global" forbids such calls to all threads, "thread_local" to the thread that captures, and "relaxed" to no
        thread. The words are those of `cudaThreadExchangeStreamCaptureMode`.
        """
        if self._mode == "global" or (self._mode == "thread_local" and threading.get_ident() == self._thread):
            raise self.invalidate("Unsupported")

    def record_event(self, queue: Queue, event: object) -> None:
        """Make each replay record an event on a capturing stream, as the program did.

        A later `record_wait` for the same event waits for the work that the stream has now.
        """
        number = id(event)
        self.timed.append(lambda replay: replay.record_event(queue, number))

    def record_wait(self, queue: Queue, event: object, *, from_this_capture: bool) -> None:
        """Make a stream wait for an event of this capture at each replay, as the program did.

        The stream becomes part of the capture. The wait of another stream for an event from outside is not recorded.

        Args:
            queue: the queue of the stream.
            event: the event.
            from_this_capture: True if the event was recorded in this capture.

        Raises:
            RuntimeError: a stream of this capture waits for an event from outside, or the default stream waits for an
                event of this capture.
        """
        if not from_this_capture:
            if queue in self.queues:
                raise self.invalidate("Isolation")
            return
        if not queue[1]:
            raise self.invalidate("Implicit")
        self.queues.add(queue)
        number = id(event)
        self.timed.append(lambda replay: replay.wait_for_event(queue, number))

    # -- the end

    def restore(self) -> None:
        """Undo what the captured work did to memory and to generators.

        On CUDA, work that is captured does not run before the first replay. The memory that this work allocated is set
        to zero.
        """
        for whole, old in self._saved.values():
            whole.copy_(old)
        for whole in self._new_memory.values():
            whole.zero_()
        for generator, state in zip(self._generators, self._states, strict=True):
            generator.set_state(state)

    def is_joined(self) -> bool:
        """Return whether the first stream of the capture has waited for all other streams in it.

        If not, the capture ends with CUDA's error "capturing stream has unjoined work".
        """
        seen = self._races.vector_clock_of(self.origin)
        return all(self._races.vector_clock_of(queue)[queue] <= seen.get(queue, 0) for queue in self.queues)


class Replay:
    """One replay of a graph on the virtual clock: the work captured on `capture.origin` goes to `queue`."""

    def __init__(self, clock: Clock, launch_s: float, capture: Capture, queue: Queue) -> None:
        self.clock = clock
        self.names = {capture.origin: queue}
        self.moments: dict[int, float] = {}
        clock.pass_time(launch_s, "launch graph")
        start = max(clock.host, clock.ready.get(queue, 0.0))
        for other in capture.queues - {capture.origin}:
            self.clock.ready[other] = max(start, self.clock.ready.get(other, 0.0))

    def add_work(self, name: str, queue: Queue, seconds: float, unit: str, busy: float, traffic: Any) -> None:
        """Add a kernel or a copy of the graph to a queue of the virtual clock.

        Args:
            name: the name of the operator, or the direction of the copy.
            queue: the queue on which it was captured.
            seconds: the seconds from its begin to its end on the device.
            unit: the part of the device that runs it.
            busy: the seconds, from its begin, during which no other work can use that part.
            traffic: the number of bytes that it moves, and the shapes of its tensors.
        """
        self.clock.add_work(name, [self.names.get(queue, queue)], 0.0, seconds, unit, busy, traffic)

    def record_event(self, queue: Queue, event: int) -> None:
        """Set the virtual time of an event in this replay.

        It is the time at which the work that is in the queue now will be done.

        Args:
            queue: the queue on which the event was captured.
            event: the identity of the event, which `wait_for_event` takes too.
        """
        self.moments[event] = self.clock.ready.get(self.names.get(queue, queue), 0.0)

    def wait_for_event(self, queue: Queue, event: int) -> None:
        """Let later work of a queue wait for an event that this replay recorded.

        Args:
            queue: the queue on which the wait was captured.
            event: the identity of the event, as `record_event` took it.
        """
        queue = self.names.get(queue, queue)
        self.clock.ready[queue] = max(self.clock.ready.get(queue, 0.0), self.moments.get(event, 0.0))


def _bytes_of(tensor: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode(tensor.is_inference()):
        # Not by the method: a program's must not lay a CPU tensor on memory of the device.
        made: torch.Tensor = torch._C.TensorBase.set_(
            torch.empty(0, dtype=torch.uint8, device="cpu"), tensor.untyped_storage()
        )
        return made


def _leaves(value: Any) -> list[torch.Tensor]:
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value] if isinstance(value, torch.Tensor) else []
