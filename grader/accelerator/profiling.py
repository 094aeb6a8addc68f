"""The profiler: PyTorch's own tells which operators ran, the virtual clock when, and what the device did for them.

While it runs, each step of the virtual clock leaves a mark among the profiler's events, with its number as its name.
Afterwards the times of all events are looked up on the clock, and what the CPU did inside an operator of the device
is left out.
"""

from __future__ import annotations

import bisect
import functools
import json
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._C._autograd import DeviceType
from torch._C._profiler import _RecordFunctionFast
from torch.autograd.profiler_util import EventList, FunctionEvent, Interval, Kernel

from grader.accelerator.clock import Clock
from grader.accelerator.machine import INNER, Machine
from grader.accelerator.replacing import put
from grader.accelerator.spans import Span, trace_events

_MARK, _INSIDE = "simulated#", "simulated inside"
_AROUND = "PythonSubclass"
"""What PyTorch tells around an operator that is written in Python, as all of ours are."""
_CALLS = {
    "graph": "cudaGraphLaunch",
    "host to device": "cudaMemcpyAsync",
    "device to host": "cudaMemcpyAsync",
    "device to device": "cudaMemcpyAsync",
    "scalar to host": "cudaMemcpyAsync",
}
_WAITS = {"synchronize": "cudaDeviceSynchronize", "event": "cudaEventSynchronize"}
_COPIES = {
    "host to device": "Memcpy HtoD",
    "device to host": "Memcpy DtoH",
    "scalar to host": "Memcpy DtoH",
    "device to device": "Memcpy PtoP",
}

RECORDERS: list[_Recorder] = []
"""Who listens just now."""


def inside() -> Any:
    """A region of what the CPU does for an operator of the device."""
    return _RecordFunctionFast(_INSIDE)


@dataclass(slots=True)
class _Step:
    """A step of the host's clock: what is called, from when to when, and what the device does for it."""

    name: str
    start: float
    end: float
    work: list[Span] = field(default_factory=list)


class _Recorder:
    """Listens to a clock while a profiler runs."""

    def __init__(self, clock: Clock) -> None:
        self.start = clock.host
        self.steps: list[_Step] = []
        self.spans: list[Span] = []
        self._clock = clock
        self._before = clock.listener
        clock.listener = self.note
        RECORDERS.append(self)

    def stop(self) -> None:
        """Listen no more."""
        self._clock.listener = self._before
        if self in RECORDERS:
            RECORDERS.remove(self)

    def note(self, span: Span, now: float) -> None:
        """A span of the clock."""
        if self._before is not None:
            self._before(span, now)
        if span.name.startswith("range "):
            return
        self.spans.append(span)
        if span.place != "host":
            # Both devices report a copy between them.
            if self.steps and not (self.steps[-1].work and span.name == "device to device"):
                self.steps[-1].work.append(span)
        elif span.name == "staging" and self.steps:
            self.steps[-1].end = span.end
        else:
            self.steps.append(_Step(_call_of(span.name), span.start, span.end))
            with _RecordFunctionFast(f"{_MARK}{len(self.steps) - 1}"):
                pass


def _call_of(name: str) -> str:
    """What the host calls, by CUDA's names; "" for work of its own."""
    kind, _, rest = name.partition(" ")
    if kind == "launch":
        return _CALLS.get(rest, "cudaLaunchKernel")
    if kind == "wait":
        return _WAITS.get(rest.removeprefix("for "), "cudaStreamSynchronize")
    return ""


class _Reader:
    """Turns the profiler's events into those of the device and of the virtual clock."""

    def __init__(self, recorder: _Recorder, device: str) -> None:
        self.recorder = recorder
        self.device = device
        self.kind = DeviceType.CUDA if device == "cuda" else DeviceType.PrivateUse1
        self.host_events: list[FunctionEvent] = []
        self.kernels: list[FunctionEvent] = []
        # When each mark was set, on the profiler's clock, and what the virtual clock said after it.
        self.marked: list[float] = []
        self.step_ends: list[float] = []

    def read(self, events: list[FunctionEvent]) -> list[FunctionEvent]:
        """All events, in the order of their virtual times."""
        opened: dict[int, list[FunctionEvent]] = {}
        for event in events:
            around = opened.setdefault(event.thread, [])
            while around and event.time_range.end > around[-1].time_range.end:
                around.pop()
            self._take(event, around)
        marks = {id(event) for event in self.host_events if event.name in _HOST_CALLS}
        for event in self.host_events:
            event.use_device = self.device
            if id(event) not in marks:
                event.time_range = Interval(self._time(event.time_range.start), self._time(event.time_range.end))
        ordered = [*self.host_events, *self.kernels]
        return sorted(ordered, key=lambda event: (event.time_range.start, -event.time_range.end))

    def _take(self, event: FunctionEvent, around: list[FunctionEvent]) -> None:
        within = any(other.name == _INSIDE for other in around)
        if event.name.startswith(_MARK):
            self._mark(event, [other for other in around if other.name != _INSIDE])
        elif event.name == _INSIDE:
            for other in () if within else around:
                # What the CPU took for it stands for what the device takes.
                other.device_memory_usage += other.cpu_memory_usage
                other.cpu_memory_usage = 0
            around.append(event)
        elif not within and event.name != _AROUND:
            self.host_events.append(event)
            if not event.is_async:
                around.append(event)

    def _mark(self, event: FunctionEvent, around: list[FunctionEvent]) -> None:
        step = self.recorder.steps[int(event.name.removeprefix(_MARK))]
        self.marked.append(event.time_range.end)
        self.step_ends.append(self._since(step.end))
        for span in step.work:
            name = _COPIES.get(span.name, span.name)
            kernel = FunctionEvent(
                id=event.id,
                name=name,
                thread=span.stream,
                start_us=self._since(span.start),
                end_us=self._since(span.end),
                use_device=self.device,
                device_type=self.kind,
                device_index=int(span.place),
                trace_name=name,
                input_shapes=[],
                stack=[],
            )
            self.kernels.append(kernel)
            if around:
                around[-1].kernels.append(Kernel(name, int(span.place), kernel.time_range.elapsed_us()))
        if step.name:
            event.name = event.trace_name = step.name
            event.time_range = Interval(self._since(step.start), self._since(step.end))
            self.host_events.append(event)

    def _since(self, moment: float) -> float:
        return (moment - self.recorder.start) * 1e6

    def _time(self, moment: float) -> float:
        """The virtual time at a moment of the profiler's."""
        place = bisect.bisect_right(self.marked, moment)
        return self.step_ends[place - 1] if place else 0.0


_HOST_CALLS = {*_CALLS.values(), *_WAITS.values(), "cudaLaunchKernel", "cudaStreamSynchronize"}


def answer_profiler(machine: Machine) -> None:
    """Let PyTorch's profilers show the device, by the virtual clock."""
    profile: Any = torch.autograd.profiler.profile
    _listen_while_it_runs(machine, profile)
    parse, export = profile._parse_kineto_results, profile.export_chrome_trace

    def parse_results(self: Any, *args: Any, **kwargs: Any) -> Any:
        events = parse(self, *args, **kwargs)
        recorder = self._recorder
        # Where the device did nothing, the host's own times tell more.
        if recorder is None or not any(step.work for step in recorder.steps):
            return [event for event in events if not event.name.startswith((_MARK, _INSIDE))]
        self.use_device = machine.kind
        events_read = _Reader(recorder, machine.kind).read(events)
        return [event for event in events_read if self._host_too or event.name in _HOST_CALLS or _is_of_device(event)]

    def export_chrome_trace(self: Any, path: str, *args: Any, **kwargs: Any) -> Any:
        if self._recorder is None or not self._recorder.spans:
            return export(self, path, *args, **kwargs)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": _traced(self._recorder, self.function_events)}, file)
        return None

    put(profile, "_parse_kineto_results", parse_results)
    put(profile, "export_chrome_trace", export_chrome_trace)
    if machine.kind == "cuda":
        both = {torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA}
        for owner in (torch.profiler, torch.profiler.profiler):
            put(owner, "supported_activities", lambda: set(both))


def _listen_while_it_runs(machine: Machine, profile: Any) -> None:
    original, start, leave = profile.__init__, profile._start_trace, profile.__exit__

    @functools.wraps(original)
    def init(self: Any, *args: Any, use_device: Any = None, use_cuda: bool = False, **kwargs: Any) -> None:
        self._simulated = use_cuda or use_device in (machine.kind, INNER)
        self._host_too, self._recorder = kwargs.pop("use_cpu", True), None
        # Of the device, PyTorch would ask CUDA at each operator, in vain.
        original(self, *args, use_device=None if self._simulated else use_device, **kwargs)

    def start_trace(self: Any) -> None:
        start(self)
        if self._simulated:
            self._recorder = _Recorder(machine.clock)

    def exit_(self: Any, *args: Any) -> Any:
        if self._recorder is not None:
            machine.synchronize()
            self._recorder.stop()
        return leave(self, *args)

    for name, new in (("__init__", init), ("_start_trace", start_trace), ("__exit__", exit_)):
        put(profile, name, new)


def _is_of_device(event: FunctionEvent) -> bool:
    return bool(event.device_type != DeviceType.CPU)


def _traced(recorder: _Recorder, events: EventList) -> list[dict[str, Any]]:
    """The clock's spans, and above them the operators, in a row of their own."""
    rows = list(trace_events(recorder.spans))
    start = recorder.start * 1e6
    for event in events:
        if not _is_of_device(event) and event.name not in _HOST_CALLS:
            ranges = {"ts": start + event.time_range.start, "dur": event.time_range.elapsed_us()}
            rows.append(
                {"ph": "X", "name": event.name, "cat": "cpu_op", "pid": 0, "tid": 1000 + event.thread, **ranges}
            )
    return rows
