"""The streams of backward: as on CUDA, each node of the graph runs on the streams that were current when it was made.

PyTorch's engine does this in C++, for devices whose streams C++ knows. Here each question for the current stream,
within backward, first looks which node runs.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch

from grader.accelerator.sim.clock import Queue
from grader.accelerator.sim.machine import Machine
from grader.accelerator.sim.sync_debug import warn_at_program_line

_STALE = (
    "During CUDA graph capture, autograd node '{name}' has a stale reference to the default stream (stream 0) from "
    "warmup. This will invalidate the capture because cudaStreamWaitEvent on the default stream pulls a non-capturing "
    "stream into the graph.\nTo fix, either:\n"
    "  (a) Run warmup on the same stream that capture will use, or\n"
    "  (b) Delete references to the loss / autograd graph (e.g. `del loss`) before capture, or\n"
    "  (c) Call torch.autograd.graph.set_override_stale_capture_stream(True) to automatically redirect stale nodes to "
    "the capturing stream."
)

_COMPARES_DEVICES = not hasattr(torch._C, "_override_stale_capture_stream")
"""Whether the default streams of two devices count as different. An older PyTorch compares streams, not their ids."""

_ACCUMULATES = (1 << 64) - 1
"""The sequence number of nodes that accumulate into a leaf."""

_STREAMS = "streams of the simulated device"
"""The key under which the metadata of such a node, which live as long as it does, hold its streams."""

_MISMATCH = (
    "The AccumulateGrad node's stream does not match the stream of the node that produced the incoming gradient. This "
    "may incur unnecessary synchronization and break CUDA graph capture if the AccumulateGrad node's stream is the "
    "default stream. This mismatch is caused by an AccumulateGrad node created prior to the current iteration being "
    "kept alive. This can happen if the autograd graph is still being kept alive by tensors such as the loss, or if "
    "you are using DDP, which will stash a reference to the node. To resolve the mismatch, delete all references to "
    "the autograd graph or ensure that DDP initialization is performed under the same stream as subsequent forwards. "
    "If the mismatch is intentional, you can use torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch("
    "False) to suppress this warning."
)


def record_streams_of_accumulator(node: Any, streams: dict[int, int]) -> None:
    """Record the streams of an AccumulateGrad node, on which backward will run it.

    They are those on which the node, which adds up the gradient of a leaf, was made. Of `{0: 3, 1: 0}`, `{0: 3}` is
    recorded: 0 is the default stream. If streams are recorded already, they stay. PyTorch makes such a node when a leaf
    is first used in a graph, and again after all graphs with it are gone.

    Args:
        node: the node.
        streams: the number of the current stream of each device, by the index of the device.
    """
    node.metadata.setdefault(_STREAMS, {index: stream for index, stream in streams.items() if stream})


class StreamsOfForward:
    """The context of one backward, in which each node of the graph runs on the streams that were current in forward.

    A node waits for the one before it; at the end the caller's streams wait for the last one.

    Args:
        machine: the simulated machine.
        home: the queue on which the tensor was made that backward starts from.
        outputs: the tensors, or edges of the graph, that backward starts from.
        inputs: the tensors, or edges, whose gradients backward computes; if empty, it reaches all leaves.
    """

    def __init__(self, machine: Machine, home: Queue, outputs: Sequence[Any], inputs: Sequence[Any]) -> None:
        self._machine = machine
        self._outputs = outputs
        self._inputs = inputs
        self._here = machine.here
        self._history = machine.here.history.of_graph(home)
        self._node: Any = None

    def __enter__(self) -> None:
        here = self._here
        self._outer = here.switch_streams
        if self._outer is not None:
            self._outer()
        self._caller = dict(here.streams)
        if self._history:
            here.switch_streams = self._switch_to_node
        # Without a second stream, only devices can differ. The graph is searched as long as a warning is possible.
        if self._history or (
            _COMPARES_DEVICES and len(self._machine.devices) > 1 and not _warn_once.cache_info().currsize
        ):
            self._compare_streams_of_leaves()

    def __exit__(self, *unused: object) -> None:
        self._here.switch_streams = self._outer
        self._switch(self._caller)

    def _compare_streams_of_leaves(self) -> None:
        """Warn if a gradient comes from another stream than that of its AccumulateGrad node.

        For example, the node of a leaf was made on the default stream, and now the leaf is used on stream 3. The node
        is made at the first use of the leaf, unless an earlier graph kept it alive. Its streams are recorded here, too.
        As in `InputBuffer::add` of PyTorch's engine, its stream is compared with that of each node that adds to the
        gradient, also if that is on another device, as for `leaf.to("cuda:1")`. In a capture, `_switch_to_accumulator`
        warns.
        """
        differs = False
        for node, users in _users_of_leaves(self._outputs, self._inputs).items():
            place = getattr(node.variable, "_place", None)
            if place is None:
                continue  # a leaf on the CPU
            numbers = {user._sequence_nr() for user in users}
            record_streams_of_accumulator(node, self._history.streams_at(min(numbers)))
            stream = (place.index, node.metadata[_STREAMS].get(place.index, 0))
            differs |= any(_differ(self._queue_of_node(user, place.index), stream) for user in users)
        if differs and self._machine.capture is None:
            _warn_of_mismatch()

    def _queue_of_node(self, node: Any, index: int) -> Queue:
        """Return the queue on which the forward of an autograd node ran, such as `(0, 3)`.

        Its device is that of the first result of forward on a simulated device, as in PyTorch's `Node::stream`. A copy
        to the host has no such result, and its backward runs on the current stream.

        Args:
            node: the node.
            index: the index of the device of the gradient that the node computes.
        """
        found = (one.device for one in node._input_metadata)
        made_on = next((device.index for device in found if self._machine.is_simulated(device)), None)
        if made_on is None:
            return (index, self._caller.get(index, 0))
        return (made_on, self._history.streams_at(node._sequence_nr()).get(made_on, 0))

    def _switch_to_node(self) -> None:
        """Switch to the streams of the autograd node that runs now.

        Within backward, this runs each time that the current stream is looked up. A second call for the same node does
        nothing: the code of the node may have chosen another stream meanwhile.
        """
        node: Any = torch._C._current_autograd_node()
        if node is self._node:
            return
        self._node = node
        if node is None:  # a callback at the end of backward
            self._switch(self._caller)
        elif (number := node._sequence_nr()) != _ACCUMULATES:
            self._switch(self._history.streams_at(number))
        else:
            self._switch_to_accumulator(node)

    def _switch_to_accumulator(self, node: Any) -> None:
        """Switch to the streams on which an AccumulateGrad node was made.

        Warn if its gradient is on another stream. Do not warn if a capture goes on with its own stream in place of the
        node's.
        """
        place = getattr(node.variable, "_place", None)
        if place is None:
            return  # a leaf on the CPU
        streams = self._here.streams
        record_streams_of_accumulator(node, streams)
        made: dict[int, int] = node.metadata[_STREAMS]
        differs = made.get(place.index, 0) != streams.get(place.index, 0)
        self._switch(made)
        # The stream of a capture may have taken the place of that of the node.
        if differs and streams.get(place.index, 0) == made.get(place.index, 0):
            _warn_of_mismatch()

    def _switch(self, streams: dict[int, int]) -> None:
        here, changed = self._here, False
        for place in self._machine.devices:
            old, new = here.streams.get(place.index, 0), streams.get(place.index, 0)
            if old != new and not self._stays_in_capture((place.index, new), (place.index, old)):
                self._machine.make_queue_wait((place.index, new), (place.index, old))
                here.streams[place.index] = new
                changed = True
        if changed:
            here.history.record(here.streams)  # nodes that backward itself makes are on these streams

    def _stays_in_capture(self, new: Queue, old: Queue) -> bool:
        """Return whether a node runs on the capturing stream, not on that of its forward.

        True if the stream of forward is outside the capture, and the program allows this by
        `set_override_stale_capture_stream`.

        Args:
            new: the queue on which the node was made.
            old: the queue that is current before the node runs.

        Raises:
            RuntimeError: the program does not allow it, and the node was made on the default stream, which cannot
                become part of a capture.
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


def _differ(one: Queue, other: Queue) -> bool:
    """Return whether PyTorch's engine takes two streams for different ones.

    From PyTorch 2.13 on, it compares only their ids. Then the default streams `(0, 0)` and `(1, 0)` of two devices do
    not differ, nor do `(0, 1)` and `(1, 1)`, the first streams that a program made on each.
    """
    return one != other if _COMPARES_DEVICES else one[1] != other[1]


def _users_of_leaves(outputs: Sequence[Any], inputs: Sequence[Any]) -> dict[Any, list[Any]]:
    """Return the AccumulateGrad nodes that a backward pass reaches, with their users.

    The users are the nodes that add to the gradient of the leaf. For `loss = w * 2 + w` and `outputs=[loss]`, the
    result is `{AccumulateGrad of w: [AddBackward0, MulBackward0]}`.

    Args:
        outputs: the tensors, or edges of the graph, that backward starts from.
        inputs: the tensors, or edges, whose gradients backward computes; if empty, it reaches all leaves.
    """
    found: dict[Any, list[Any]] = {}
    waiting = [getattr(one, "grad_fn", None) or getattr(one, "node", None) for one in outputs]
    seen = set(waiting)
    while waiting:
        node = waiting.pop()
        for following, _ in node.next_functions if node is not None else ():
            if following is not None and following._sequence_nr() == _ACCUMULATES:
                found.setdefault(following, []).append(node)
            elif following not in seen:
                seen.add(following)
                waiting.append(following)
    if not inputs:
        return found
    nodes = {getattr(one, "node", None) for one in inputs}
    return {
        node: users for node, users in found.items() if node in nodes or any(node.variable is one for one in inputs)
    }


def _warn_of_mismatch() -> None:
    """Warn that an AccumulateGrad node has another stream than its gradient.

    The warning is issued once in a process. `torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)`
    switches the warning off.
    """
    native: Any = torch._C
    if native._warn_on_accumulate_grad_stream_mismatch():
        _warn_once()


@functools.cache
def _warn_once() -> None:
    warn_at_program_line(_MISMATCH)
