"""PyTorch's profilers show the device, by the virtual clock."""

from __future__ import annotations

import functools
import inspect
import json
import warnings
from typing import Any

import torch

from grader.accelerator.core.profiler import (
    HOST_CALLS,
    INSIDE,
    MARK,
    EventReader,
    Recorder,
    chrome_trace_of,
    is_of_device,
)
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import INNER, Machine

_USE_CUDA = "The attribute `use_cuda` will be deprecated soon, please use ``use_device = 'cuda'`` instead."


def install(machine: Machine) -> None:
    """Let PyTorch's profilers show the work of the device, with virtual times."""
    profile: Any = torch.autograd.profiler.profile
    _replace_profile(machine, profile)
    parse, export = profile._parse_kineto_results, profile.export_chrome_trace

    def parse_results(self: Any, *args: Any, **kwargs: Any) -> Any:
        events = parse(self, *args, **kwargs)
        recorder = self._recorder
        # Where the device did nothing, the host's own times tell more.
        if recorder is None or not any(step.work for step in recorder.steps):
            return [event for event in events if not event.name.startswith((MARK, INSIDE))]
        self.use_device = machine.kind
        events_read = EventReader(recorder, machine.kind).read(events)
        return [event for event in events_read if self._host_too or event.name in HOST_CALLS or is_of_device(event)]

    def export_chrome_trace(self: Any, path: str, *args: Any, **kwargs: Any) -> Any:
        if self._recorder is None or not self._recorder.spans:
            return export(self, path, *args, **kwargs)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": chrome_trace_of(self._recorder, self.function_events)}, file)
        return None

    put(profile, "_parse_kineto_results", parse_results)
    put(profile, "export_chrome_trace", export_chrome_trace)
    if machine.kind == "cuda":
        both = {torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA}
        for owner in (torch.profiler, torch.profiler.profiler):
            put(owner, "supported_activities", lambda: set(both))
        _replace_emit_nvtx(machine)


def _replace_emit_nvtx(machine: Machine) -> None:
    """Replace `emit_nvtx` by a context that only waits for the device.

    It adds no ranges, since spans have the operators' names already.
    """
    emit_nvtx: Any = torch.autograd.profiler.emit_nvtx

    def enter(self: Any) -> Any:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("NVTX annotation context manager is not reentrant")
        self.entered = True
        machine.synchronize()
        return self

    def leave(self: Any, *args: Any) -> bool | None:
        del args
        if not self.enabled:
            return None
        machine.synchronize()
        return False

    put(emit_nvtx, "__enter__", enter)
    put(emit_nvtx, "__exit__", leave)


def _replace_profile(machine: Machine, profile: Any) -> None:
    """Make a profiler record the spans of the virtual clock.

    `profile` is the class of the profiler. Its methods that begin and end the profile are replaced.
    """
    original, start, leave = profile.__init__, profile._start_trace, profile.__exit__
    takes_use_cuda = "use_cuda" in inspect.signature(original).parameters  # until 2.13

    @functools.wraps(original)
    def init(self: Any, *args: Any, use_device: Any = None, **kwargs: Any) -> None:
        if takes_use_cuda and kwargs.pop("use_cuda", False):
            warnings.warn(_USE_CUDA, FutureWarning, stacklevel=2)
            use_device = "cuda"
        self._simulated = use_device in (machine.kind, INNER)
        self._host_too, self._recorder = kwargs.pop("use_cpu", True), None
        # Of the device, PyTorch would ask CUDA at each operator, in vain.
        original(self, *args, use_device=None if self._simulated else use_device, **kwargs)

    def start_trace(self: Any) -> None:
        start(self)
        if self._simulated:
            self._recorder = Recorder(machine.clock)

    def exit_(self: Any, *args: Any) -> Any:
        if self._recorder is not None:
            machine.synchronize()
            self._recorder.stop()
        return leave(self, *args)

    for name, new in (("__init__", init), ("_start_trace", start_trace), ("__exit__", exit_)):
        put(profile, name, new)
