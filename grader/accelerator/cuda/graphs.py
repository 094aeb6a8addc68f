"""CUDA graphs: work that is recorded while a stream captures, and done again by one launch.

Capturing does nothing on a GPU. Here its numbers are made, so that sizes are known, and taken back at the end: what was
there before holds its old numbers, what was made holds zeros until the first replay.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Iterable
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from grader.accelerator.cuda.pools import graph_pool_handle
from grader.accelerator.cuda.streams import Unpicklable
from grader.accelerator.refusals import refusal
from grader.accelerator.sim.capture import Capture, Replay
from grader.accelerator.sim.cuda_errors import cuda_error
from grader.accelerator.sim.generator import SimGenerator
from grader.accelerator.sim.machine import the_machine
from grader.accelerator.sim.races import Block

_EARLY = "without a preceding successful capture."

_NOT_ENDED = "capture_end() must have been called before calling instantiate"

_NOT_KEPT = "instantiate() is intended to be called by the user only when keep_graph=true"

_NOT_CAPTURING = "The current stream is not currently capturing."

_OWNS = "This CUDAGraph instance already owns a captured graph. To capture a new graph, create a new instance."

_DEFAULT = (
    "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to replay them on the "
    "default stream.)"
)

_EMPTY = (
    "The CUDA Graph is empty. This usually means that the graph was attempted to be captured on wrong device or stream."
)

_ONE = (
    "the simulated device captures one CUDA graph at a time, and another stream captures already; PyTorch's notes on "
    "CUDA graphs allow one capture in a process at a time"
)

_MODES = ("global", "thread_local", "relaxed")


def is_current_stream_capturing() -> bool:
    """Return whether the current stream is capturing a CUDA graph."""
    machine = the_machine()
    return machine.capture is not None and machine.devices[machine.current].queue in machine.capture.queues


class CUDAGraph(Unpicklable):
    """A simulated CUDA graph: work that is captured once, and run again by one launch.

    Args:
        keep_graph: True if the program instantiates the graph after the capture, or the first replay does; it may
            capture into the graph again before that.
    """

    def __init__(self, keep_graph: bool = False) -> None:
        self._keep_graph = keep_graph
        self._has_graph_exec = False
        self._capture: Capture | None = None
        self._done: Capture | None = None
        self._pool: Any = None
        self._generators: list[SimGenerator] = []

    def capture_begin(
        self, pool: Any = None, capture_error_mode: str = "global", check_input_liveness: bool = False
    ) -> None:
        """Begin to capture all work that is submitted to the current stream.

        Args:
            pool: a key that `graph_pool_handle` returned, or that of another graph's pool.
            capture_error_mode: the threads that may not query or wait during the capture: "global" for all,
                "thread_local" for the one that captures, "relaxed" for none.
            check_input_liveness: not used.
        """
        del check_input_liveness
        machine = the_machine()
        queue = machine.devices[machine.current].queue
        if capture_error_mode not in _MODES:
            raise RuntimeError(
                f"Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, got {capture_error_mode}"
            )
        if self._has_graph_exec:
            raise RuntimeError(_OWNS)
        if not queue[1]:
            raise RuntimeError(_DEFAULT)
        if machine.capture is not None:
            if queue not in machine.capture.queues:
                raise refusal(_ONE)
            raise machine.capture.invalidate("Unsupported")
        self._pool = pool or graph_pool_handle()
        generators = [*(place.generator for place in machine.devices), *self._generators]
        self._capture = machine.capture = Capture(machine.races, queue, generators, capture_error_mode)
        _capturing[machine.capture] = weakref.ref(self)
        SimGenerator.capturing = True

    def capture_end(self) -> None:
        """End the capture, so that the graph can be replayed.

        Raise what `capture_end_pre` raises. Without `keep_graph`, the graph is instantiated, too.
        """
        self.capture_end_pre()
        if not self._keep_graph:
            self.instantiate()

    def capture_end_pre(self) -> None:
        """End the capture, and instantiate nothing.

        Raise if no capture was begun, if the program made a call that breaks the capture, if work of another stream was
        not joined, or if another stream is current than at the beginning.
        """
        machine, capture = the_machine(), self._capture
        if capture is None:
            raise cuda_error("the operation cannot be performed in the present state", "cudaErrorIllegalState")
        machine.capture = self._capture = None
        SimGenerator.capturing = False
        joined = capture.is_joined()
        capture.restore()
        # Nothing of it was done, so that nobody has to wait for it.
        machine.races.record_host_wait(capture.queues)
        if capture.broken:
            raise capture.invalidate("Invalidated")
        if not joined:
            raise capture.invalidate("Unjoined")
        if machine.devices[machine.current].queue != capture.origin:
            raise RuntimeError("Capture must end on the same stream it began on.")
        if not capture.timed:
            warnings.warn(_EMPTY, UserWarning, stacklevel=3)
        self._done = capture

    def replay(self) -> None:
        """Run all captured work again, on the current stream."""
        if self._done is None:
            raise RuntimeError(f"Called CUDAGraph::replay {_EARLY}")
        if not self._has_graph_exec:
            self.instantiate()
        machine = the_machine()
        place = machine.devices[machine.current]
        if machine.capture is not None and place.queue in machine.capture.queues:
            raise machine.capture.invalidate("Unsupported")
        machine.check_fault(place.index)
        reads, writes = (_alive(blocks) for blocks in (self._done.reads, self._done.writes))
        machine.races.record_use(place.queue, "replay", reads, writes)
        for record, pinned in self._done.copies:
            record(pinned)
        machine.tally.launches += 1
        # The numbers, with nothing switched on that the program had switched off when it captured.
        with _disable_current_modes(), torch.inference_mode():
            for step in self._done.steps:
                step()
        replay = Replay(machine.clock, machine.spec.launch, self._done, place.queue)
        for tell in self._done.timed:
            tell(replay)
        machine.races.on_arrivals()
        if machine.blocking:
            machine.clock.wait("graph", [place.queue])

    def instantiate(self) -> None:
        """Make the captured graph ready for replays.

        Raise if nothing is captured, or if a graph without `keep_graph` is instantiated again.
        """
        if self._done is None:
            raise RuntimeError(_NOT_ENDED)
        if self._has_graph_exec and not self._keep_graph:
            raise RuntimeError(_NOT_KEPT)
        self._has_graph_exec = True

    def reset(self) -> None:
        """Delete the captured graph."""
        self._done = None
        self._has_graph_exec = False

    def pool(self) -> Any:
        """Return the key of the graph's memory pool."""
        if self._done is None:
            raise RuntimeError(f"Called CUDAGraph::pool() {_EARLY}")
        return self._pool

    def register_generator_state(self, generator: SimGenerator) -> None:
        """Let the captured work draw random numbers from this generator.

        Each replay then draws new numbers. Call this before `capture_begin`.
        """
        self._generators.append(generator)

    @staticmethod
    def get_currently_capturing_graph() -> CUDAGraph:
        """Return the graph that captures on the current stream; raise if none does."""
        capture = the_machine().capture
        graph = None if capture is None or not is_current_stream_capturing() else _capturing[capture]()
        if graph is None:
            raise RuntimeError(_NOT_CAPTURING)
        return graph

    def enable_debug_mode(self) -> None:
        """Do nothing: a simulated graph has no further information for debugging."""

    def debug_dump(self, debug_path: str) -> None:
        """Raise `NotImplementedError`: there is no real graph to write to a file."""
        raise refusal(f"the graph is simulated and cannot be written to {debug_path}")


CUDAGraph.__module__ = "torch.cuda.graphs"

_capturing: weakref.WeakKeyDictionary[Capture, weakref.ref[CUDAGraph]] = weakref.WeakKeyDictionary()
"""The graph of each capture."""


class Graph(CUDAGraph):
    """The graph of `torch.accelerator`: a context in which the work of the current stream is captured.

    Args:
        keep_graph: as for `CUDAGraph`.
        pool: a key of `graph_pool_handle`, or of another graph's pool.
        capture_error_mode: "default", which means "global", or another mode of `CUDAGraph.capture_begin`.
    """

    __module__ = "torch.accelerator.graphs"

    def __init__(self, keep_graph: bool = False, *, pool: Any = None, capture_error_mode: str = "default") -> None:
        super().__init__(keep_graph)
        self.graph_pool = pool
        self.capture_error_mode = capture_error_mode

    def capture_begin(self) -> None:  # type: ignore[override]
        """Begin to capture all work that is submitted to the current stream."""
        mode = self.capture_error_mode
        super().capture_begin(self.graph_pool, "global" if mode == "default" else mode)

    def __enter__(self) -> None:
        the_machine().synchronize()
        self.capture_begin()

    def __exit__(self, *unused: object) -> None:
        self.capture_end()


def _alive(blocks: Iterable[weakref.ref[Block]]) -> list[Block]:
    alive = {id(block): block for known in blocks if (block := known()) is not None}
    return list(alive.values())
