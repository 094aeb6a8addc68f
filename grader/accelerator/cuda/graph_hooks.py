"""CUDA graphs of PyTorch 2.14, which call hooks when they are captured, instantiated, replayed and destroyed."""

from __future__ import annotations

import contextlib
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import torch
from torch.utils.hooks import RemovableHandle

from grader.accelerator.cuda.graphs import CUDAGraph

_Hooks = OrderedDict[int, Callable[[Any], None]]


class _Retained:
    """What a graph keeps from one capture to its end: functions to call when it is destroyed, and objects.

    It does not refer to the graph, so that `weakref.finalize` can call `fire`.
    """

    def __init__(self) -> None:
        self.callbacks: OrderedDict[int, Callable[[], None]] = OrderedDict()
        self.objects: OrderedDict[int, object] = OrderedDict()
        self.streams: set[Any] = set()
        self.waits = False
        self._fired = False

    def fire(self) -> None:
        """Call the functions, once, and drop the objects.

        Errors of the functions are dropped, as PyTorch drops them.
        """
        if self._fired:
            return
        self._fired = True
        for stream in self.streams if self.waits else ():
            stream.synchronize()
        for callback in list(self.callbacks.values()):
            # As PyTorch does: an error of one does not keep the others from running.
            with contextlib.suppress(Exception):
                callback()
        self.callbacks.clear()
        self.objects.clear()


def _add(table: OrderedDict[int, Any], item: Any) -> RemovableHandle:
    """Add an item to a table, and return the handle that removes it."""
    handle = RemovableHandle(table)
    table[handle.id] = item
    return handle


class CUDAGraphWithHooks(CUDAGraph):
    """A simulated CUDA graph with hooks: those of the graph, and those of `torch.cuda.graphs` for all graphs."""

    def __init__(self, keep_graph: bool = False) -> None:
        super().__init__(keep_graph)
        self._hooks: dict[str, _Hooks] = {name: OrderedDict() for name in _MOMENTS}
        self._retained = _Retained()
        self._arm()

    def _arm(self) -> None:
        self._retained = _Retained()
        self._finalizer = weakref.finalize(self, self._retained.fire)
        of_all: Any = torch.cuda.graphs
        if of_all._graph_destroy_hooks_active():
            # Without annotations of kernels, no ids of this graph are known.
            self.register_destroy_callback(lambda: of_all._run_graph_destroy_hooks(set()))

    def _call_hooks(self, moment: str) -> None:
        """Call the hooks of all graphs, whose errors are dropped, and then those of this graph.

        Args:
            moment: a key of `_MOMENTS`, such as "replay_start".
        """
        of_all: Any = torch.cuda.graphs
        of_all._run_global_hooks(getattr(of_all, f"_global_{_MOMENTS[moment]}_hooks"), self)
        for hook in list(self._hooks[moment].values()):
            hook(self)

    def _register(self, moment: str, hook: Callable[[Any], None]) -> RemovableHandle:
        return _add(self._hooks[moment], hook)

    def register_capture_start_hook(self, hook: Callable[[Any], None]) -> RemovableHandle:
        """Call `hook(graph)` when a capture into this graph has begun."""
        return self._register("capture_start", hook)

    def register_capture_end_hook(self, hook: Callable[[Any], None]) -> RemovableHandle:
        """Call `hook(graph)` when the capture has ended, before the graph is instantiated."""
        return self._register("capture_end", hook)

    def register_post_instantiate_hook(self, hook: Callable[[Any], None]) -> RemovableHandle:
        """Call `hook(graph)` after each instantiation."""
        return self._register("post_instantiate", hook)

    def register_replay_start_hook(self, hook: Callable[[Any], None]) -> RemovableHandle:
        """Call `hook(graph)` before each replay."""
        return self._register("replay_start", hook)

    def register_replay_end_hook(self, hook: Callable[[Any], None]) -> RemovableHandle:
        """Call `hook(graph)` after each replay, also after one that raised."""
        return self._register("replay_end", hook)

    def register_destroy_callback(
        self, cb: Callable[[], None], *, synchronize_before_release: bool = False
    ) -> RemovableHandle:
        """Call `cb()` when this graph is destroyed or reset.

        Args:
            cb: the function, which must not refer to the graph.
            synchronize_before_release: True to wait for the streams of all replays first.
        """
        self._retained.waits |= synchronize_before_release
        return _add(self._retained.callbacks, cb)

    def retain_object(self, obj: object, *, synchronize_before_release: bool = False) -> RemovableHandle:
        """Keep an object until this graph is destroyed or reset.

        Args:
            obj: the object, which must not refer to the graph.
            synchronize_before_release: True to wait for the streams of all replays first.
        """
        self._retained.waits |= synchronize_before_release
        return _add(self._retained.objects, obj)

    def capture_begin(self, *args: Any, **kwargs: Any) -> None:
        """Begin a capture, and call the hooks."""
        super().capture_begin(*args, **kwargs)
        self._call_hooks("capture_start")

    def capture_end(self) -> None:
        """End the capture, and call the hooks before the graph is instantiated."""
        self.capture_end_pre()
        self._call_hooks("capture_end")
        if not self._keep_graph:
            self.instantiate()
        self.capture_end_post()

    def capture_end_post(self) -> None:
        """Do nothing: a simulated graph has no template to destroy."""

    def instantiate(self) -> None:
        """Make the captured graph ready for replays, and call the hooks."""
        super().instantiate()
        self._call_hooks("post_instantiate")

    def replay(self) -> None:
        """Run all captured work again, with the hooks before and after it."""
        if self._done is not None and not self._has_graph_exec:
            self.instantiate()
        self._retained.streams.add(torch.cuda.current_stream())
        self._call_hooks("replay_start")
        try:
            super().replay()
        finally:
            self._call_hooks("replay_end")

    def reset(self) -> None:
        """Delete the captured graph, and call the functions that wait for its end."""
        self._retained.fire()
        self._finalizer.detach()
        self._arm()
        super().reset()

    def pools(self) -> list[Any]:
        """Return the keys of the memory pools of this graph: it has one."""
        return [self.pool()]

    def enable_debug_mode(self) -> None:
        """Keep the captured graph after the capture, as with `keep_graph=True`."""
        self._keep_graph = True


CUDAGraphWithHooks.__module__ = "torch.cuda.graphs"
CUDAGraphWithHooks.__name__ = CUDAGraphWithHooks.__qualname__ = "CUDAGraph"

_MOMENTS = {
    "capture_start": "capture_start",
    "capture_end": "capture_end",
    "post_instantiate": "instantiate",
    "replay_start": "replay_start",
    "replay_end": "replay_end",
}
"""When hooks are called, and how `torch.cuda.graphs` names the dict of those for all graphs."""
