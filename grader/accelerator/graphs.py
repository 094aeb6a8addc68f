"""CUDA graphs: work that is recorded while a stream captures, and done again by one launch.

Capturing does nothing on a GPU. Here its numbers are made, so that sizes are known, and taken back at the end: what was
there before holds its old numbers, what was made holds zeros until the first replay.
"""

from __future__ import annotations

import itertools
import warnings
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from grader.accelerator.allocation import Block
from grader.accelerator.asserts import cuda_error
from grader.accelerator.clock import Queue
from grader.accelerator.generators import SimGenerator
from grader.accelerator.machine import Machine, the_machine

_EARLY = "without a preceding successful capture."
_NOT_PINNED = (
    "Cannot copy between CPU and CUDA tensors during CUDA graph capture unless the CPU tensor is pinned. Please use "
    "tensor.pin_memory() or allocate the tensor with pin_memory=True."
)
_OWNS = "This CUDAGraph instance already owns a captured graph. To capture a new graph, create a new instance."
_DEFAULT = (
    "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to replay them on the "
    "default stream.)"
)
_EMPTY = (
    "The CUDA Graph is empty. This usually means that the graph was attempted to be captured on wrong device or stream."
)
_FOREIGN = "Attempt to increase offset for a CUDA generator not in capture mode."
_ERRORS = {
    "Unsupported": "operation not permitted when stream is capturing",
    "Invalidated": "operation failed due to a previous error during capture",
    "Unjoined": "capturing stream has unjoined work",
    "Isolation": "dependency created on uncaptured work in another stream",
    "CapturedEvent": "operation not permitted on an event last recorded in a capturing stream",
}
_MODES = ("global", "thread_local", "relaxed")


class Capture:
    """What streams are given while they capture.

    Attributes:
        queues: those that capture: the one it began on, and those that waited for it.
    """

    def __init__(self, machine: Machine, queue: Queue, generators: Sequence[SimGenerator]) -> None:
        self.machine = machine
        self.origin = queue
        self.queues = {queue}
        self.steps: list[Callable[[], None]] = []
        self.timed: list[Callable[[_Replay], None]] = []
        self.reads: list[weakref.ref[Block]] = []
        self.writes: list[weakref.ref[Block]] = []
        self.broken = False
        self._given = generators
        self._states = [generator.get_state() for generator in self._generators()]
        self._before: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self._made: dict[int, torch.Tensor] = {}

    def _generators(self) -> list[SimGenerator]:
        return [*(place.generator for place in self.machine.devices), *self._given]

    def error(self, kind: str) -> Exception:
        """An error of capturing, which spoils the capture."""
        self.broken = True
        name = kind if kind == "CapturedEvent" else f"StreamCapture{kind}"
        return cuda_error(_ERRORS[kind], f"cudaError{name}")

    # -- recording

    def before(self, into: Iterable[torch.Tensor]) -> None:
        """Memory that is about to be written to: its numbers come back at the end."""
        for tensor in into:
            key = tensor.untyped_storage()._cdata
            if key not in self._before and key not in self._made:
                whole = _bytes_of(tensor)
                self._before[key] = whole, whole.clone()

    def step(self, again: Callable[[], Any], out: Any, fresh: Sequence[torch.Tensor]) -> None:
        """An operator ran; `again` runs it, and what comes out goes into the memory of what came out now."""
        for tensor in fresh:
            self._made[tensor.untyped_storage()._cdata] = _bytes_of(tensor)

        def run() -> None:
            if not fresh:
                again()
                return
            for old, new in zip(_leaves(out), _leaves(again()), strict=True):
                if any(old is tensor for tensor in fresh):
                    old.copy_(new)

        self.steps.append(run)

    def made(self, fresh: Sequence[torch.Tensor]) -> None:
        """New memory that no kernel wrote to."""
        for tensor in fresh:
            self._made[tensor.untyped_storage()._cdata] = _bytes_of(tensor)

    def uses(self, reads: Sequence[Block], writes: Sequence[Block]) -> None:
        """The memory that the graph will use."""
        self.reads += [weakref.ref(block) for block in reads]
        self.writes += [weakref.ref(block) for block in writes]

    def draws(self, generator: Any) -> None:
        """A generator that was given by name; the graph must know it."""
        if all(
            generator._cdata != known._cdata  # type: ignore[attr-defined]
            for known in self._generators()
        ):
            self.broken = True
            raise RuntimeError(_FOREIGN)

    def work(self, name: str, queue: Queue, seconds: float, unit: str, busy: float, moved: Any) -> None:
        """A kernel, or a copy, with the time that it takes."""
        self.timed.append(lambda replay: replay.work(name, queue, seconds, unit, busy, moved))

    def copy(self, *, pinned: bool, blocks: bool) -> None:
        """A copy between host and device: only pinned memory may be read later, and nobody may wait."""
        if not pinned:
            self.broken = True
            raise RuntimeError(_NOT_PINNED)
        if blocks:
            raise self.error("Unsupported")

    def recorded(self, queue: Queue, event: object) -> None:
        """An event of a stream that captures."""
        number = id(event)
        self.timed.append(lambda replay: replay.record(queue, number))

    def waited(self, queue: Queue, event: object, *, mine: bool) -> None:
        """A stream waits for an event, which is recorded in this capture or elsewhere."""
        if not mine:
            if queue in self.queues:
                raise self.error("Isolation")
            return
        self.queues.add(queue)
        number = id(event)
        self.timed.append(lambda replay: replay.wait(queue, number))

    # -- the end

    def take_back(self) -> None:
        """Nothing was done so far."""
        for whole, old in self._before.values():
            whole.copy_(old)
        for whole in self._made.values():
            whole.zero_()
        for generator, state in zip(self._generators(), self._states, strict=True):
            generator.set_state(state)

    def is_joined(self) -> bool:
        """Whether the stream it began on waited for all others."""
        races = self.machine.races
        seen = races.seen_by(self.origin)
        return all(races.seen_by(queue)[queue] <= seen.get(queue, 0) for queue in self.queues)


class _Replay:
    """The times of a graph's work: its first queue is where it is launched, others keep their names."""

    def __init__(self, machine: Machine, capture: Capture, queue: Queue) -> None:
        self.clock = machine.clock
        self.names = {capture.origin: queue}
        self.moments: dict[int, float] = {}
        machine.clock.pass_time(machine.spec.launch, "launch graph")
        start = max(machine.clock.host, machine.clock.ready.get(queue, 0.0))
        for other in capture.queues - {capture.origin}:
            self.clock.ready[other] = max(start, self.clock.ready.get(other, 0.0))

    def work(self, name: str, queue: Queue, seconds: float, unit: str, busy: float, moved: Any) -> None:
        self.clock.work(name, [self.names.get(queue, queue)], 0.0, seconds, unit, busy, moved)

    def record(self, queue: Queue, event: int) -> None:
        self.moments[event] = self.clock.ready.get(self.names.get(queue, queue), 0.0)

    def wait(self, queue: Queue, event: int) -> None:
        queue = self.names.get(queue, queue)
        self.clock.ready[queue] = max(self.clock.ready.get(queue, 0.0), self.moments.get(event, 0.0))


_pools = itertools.count(1)


def graph_pool_handle() -> tuple[int, int]:
    """A name for memory that graphs share; each has its own here, so that the name is all there is."""
    return (0, next(_pools))


class CUDAGraph:
    """Work that is recorded once, and done again by one launch."""

    def __init__(self, keep_graph: bool = False) -> None:
        del keep_graph
        self._capture: Capture | None = None
        self._done: Capture | None = None
        self._pool: Any = None
        self._generators: list[SimGenerator] = []

    def capture_begin(
        self, pool: Any = None, capture_error_mode: str = "global", check_input_liveness: bool = False
    ) -> None:
        """Record what the current stream is given from now on."""
        del check_input_liveness
        machine = the_machine()
        queue = machine.devices[machine.current].queue
        if capture_error_mode not in _MODES:
            raise RuntimeError(
                f"Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, got {capture_error_mode}"
            )
        if self._done is not None:
            raise RuntimeError(_OWNS)
        if not queue[1]:
            raise RuntimeError(_DEFAULT)
        if machine.capture is not None:
            raise machine.capture.error("Unsupported")
        self._pool = pool or graph_pool_handle()
        self._capture = machine.capture = Capture(machine, queue, self._generators)
        SimGenerator.capturing = True

    def capture_end(self) -> None:
        """Record no more."""
        machine, capture = the_machine(), self._capture
        if capture is None:
            raise cuda_error("the operation cannot be performed in the present state", "cudaErrorIllegalState")
        machine.capture = self._capture = None
        SimGenerator.capturing = False
        joined = capture.is_joined()
        capture.take_back()
        # Nothing of it was done, so that nobody has to wait for it.
        machine.races.host_waits(capture.queues)
        if capture.broken:
            raise capture.error("Invalidated")
        if not joined:
            raise capture.error("Unjoined")
        if machine.devices[machine.current].queue != capture.origin:
            raise RuntimeError("Capture must end on the same stream it began on.")
        if not capture.timed:
            warnings.warn(_EMPTY, UserWarning, stacklevel=3)
        self._done = capture

    def replay(self) -> None:
        """Do all of it again, on the current stream."""
        if self._done is None:
            raise RuntimeError(f"Called CUDAGraph::replay {_EARLY}")
        machine = the_machine()
        place = machine.devices[machine.current]
        if machine.capture is not None and place.queue in machine.capture.queues:
            raise machine.capture.error("Unsupported")
        machine.check(place.index)
        reads, writes = (_alive(blocks) for blocks in (self._done.reads, self._done.writes))
        machine.races.use(place.queue, "replay", reads, writes)
        machine.tally.launches += 1
        # The numbers, with nothing switched on that the program had switched off when it captured.
        with _disable_current_modes(), torch.inference_mode():
            for step in self._done.steps:
                step()
        replay = _Replay(machine, self._done, place.queue)
        for tell in self._done.timed:
            tell(replay)
        if machine.blocking:
            machine.clock.wait("graph", [place.queue])

    def instantiate(self) -> None:
        """Nothing is left to do."""

    def reset(self) -> None:
        """Forget what was recorded."""
        self._done = None

    def pool(self) -> Any:
        """The name of its memory."""
        if self._done is None:
            raise RuntimeError(f"Called CUDAGraph::pool() {_EARLY}")
        return self._pool

    def register_generator_state(self, generator: SimGenerator) -> None:
        """Let each replay draw new numbers from this generator."""
        self._generators.append(generator)

    def enable_debug_mode(self) -> None:
        """Nothing more is kept."""

    def debug_dump(self, debug_path: str) -> None:
        """Raise: there is no graph of CUDA's to write."""
        raise NotImplementedError(f"the graph is simulated and cannot be written to {debug_path}")


CUDAGraph.__module__ = "torch.cuda.graphs"


def answer_graphs(machine: Machine) -> None:
    """Let `torch.cuda.graph` and `make_graphed_callables`, which are Python, use all of this."""

    def is_current_stream_capturing() -> bool:
        return machine.capture is not None and machine.devices[machine.current].queue in machine.capture.queues

    put: Any = setattr
    for owner in (torch.cuda, torch.cuda.graphs):
        for answer in (CUDAGraph, graph_pool_handle, is_current_stream_capturing):
            put(owner, answer.__name__, answer)
    put(torch._C, "_host_emptyCache", lambda: None)


def _bytes_of(tensor: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode(tensor.is_inference()):
        return torch.empty(0, dtype=torch.uint8, device="cpu").set_(tensor.untyped_storage())


def _leaves(value: Any) -> list[torch.Tensor]:
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value] if isinstance(value, torch.Tensor) else []


def _alive(blocks: Iterable[weakref.ref[Block]]) -> list[Block]:
    found = {id(block): block for known in blocks if (block := known()) is not None}
    return list(found.values())
