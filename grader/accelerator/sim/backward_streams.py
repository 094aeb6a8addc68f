"""The streams of backward: as on CUDA, each node of the graph runs on the streams that were current when it was made.

PyTorch's engine does this in C++, for devices whose streams C++ knows. Here each question for the current stream,
within backward, first looks which node runs.
"""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.sim.clock import Queue
from grader.accelerator.sim.machine import Machine

_STALE = (
    "During CUDA graph capture, autograd node '{name}' has a stale reference to the default stream (stream 0) from "
    "warmup. This will invalidate the capture because cudaStreamWaitEvent on the default stream pulls a non-capturing "
    "stream into the graph.\nTo fix, either:\n"
    "  (a) Run warmup on the same stream that capture will use, or\n"
    "  (b) Delete references to the loss / autograd graph (e.g. `del loss`) before capture, or\n"
    "  (c) Call torch.autograd.graph.set_override_stale_capture_stream(True) to automatically redirect stale nodes to "
    "the capturing stream."
)

_ACCUMULATES = (1 << 64) - 1
"""The sequence number of nodes that accumulate into a leaf; they run where the gradient was made."""


class StreamsOfForward:
    """The context of one backward, in which each node of the graph runs on the streams that were current in forward.

    A node waits for the one before it; at the end the caller's streams wait for the last one.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._here = machine.here
        self._node: Any = None

    def __enter__(self) -> None:
        here = self._here
        self._outer = here.follow
        if self._outer is not None:
            self._outer()
        self._caller = dict(here.streams)
        if here.history:
            here.follow = self._follow

    def __exit__(self, *unused: object) -> None:
        self._here.follow = self._outer
        self._switch(self._caller)

    def _follow(self) -> None:
        """Make the streams of the running node the current ones, once for each node: it may choose others itself."""
        node: Any = torch._C._current_autograd_node()
        if node is self._node:
            return
        self._node = node
        if node is None:  # a callback at the end of backward
            self._switch(self._caller)
        elif (number := node._sequence_nr()) != _ACCUMULATES:
            self._switch(self._here.history.streams_at(number))

    def _switch(self, streams: dict[int, int]) -> None:
        here, changed = self._here, False
        for place in self._machine.devices:
            old, new = here.streams.get(place.index, 0), streams.get(place.index, 0)
            if old != new and not self._is_overridden((place.index, new), (place.index, old)):
                self._machine.let_wait((place.index, new), (place.index, old))
                here.streams[place.index] = new
                changed = True
        if changed:
            here.history.record(here.streams)  # nodes that backward itself makes are on these streams

    def _is_overridden(self, new: Queue, old: Queue) -> bool:
        """Return whether a node stays on the stream that captures, as `set_override_stale_capture_stream` allows.

        Args:
            new: the queue that the node was made on.
            old: the queue of the node before it.

        Raises:
            RuntimeError: it was made on the default stream, which cannot become part of a capture.
        """
        capture = self._machine.capture
        if capture is None or old not in capture.queues or new in capture.queues:
            return False
        overrides: Any = getattr(torch._C, "_override_stale_capture_stream", None)
        if overrides is None or self._node is None:
            return False  # an older PyTorch leaves it to CUDA, which raises in the wait
        if not overrides() and not new[1]:
            raise RuntimeError(_STALE.format(name=self._node.name()))
        return bool(overrides())
