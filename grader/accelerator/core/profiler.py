"""The profiler: PyTorch's own records which operators ran, and the virtual clock when, and the work of the device.

While it runs, each step of the virtual clock leaves a mark among the profiler's events, with its number as its name.
Afterwards the times of all events are looked up on the clock, and what the CPU did inside an operator of the device
is left out.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field
from typing import Any

from torch._C._autograd import DeviceType
from torch._C._profiler import _RecordFunctionFast
from torch.autograd.profiler_util import EventList, FunctionEvent, Interval, Kernel

from grader.accelerator.sim.clock import Clock
from grader.accelerator.timeline import Span, trace_events

MARK, INSIDE = "simulated#", "simulated inside"

_AROUND = "PythonSubclass"
"""The name of the event that PyTorch records around an operator that is written in Python, as all of ours are."""

_OWN = f"{__name__.partition('.core.')[0].replace('.', '/')}/"
"""How the names of our own Python functions begin in a profile."""

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

RECORDERS: list[Recorder] = []
"""The recorders that get the clock's spans now."""


def operator_region() -> Any:
    """Return a context in which PyTorch's profiler marks the CPU's work for an operator.

    `EventReader` leaves out the events of this work, which a GPU would not have.
    """
    return _RecordFunctionFast(INSIDE)


@dataclass(slots=True)
class _Step:
    """A call on the host's clock: its name, its begin and its end, and the spans of device work that it caused."""

    name: str
    start: float
    end: float
    work: list[Span] = field(default_factory=list)


class Recorder:
    """Records what the virtual clock reports while a profiler runs."""

    def __init__(self, clock: Clock) -> None:
        self.start = clock.host
        self.steps: list[_Step] = []
        self.spans: list[Span] = []
        self._clock = clock
        self._before = clock.on_span
        clock.on_span = self.record_span
        RECORDERS.append(self)

    def stop(self) -> None:
        """Stop recording spans of the virtual clock."""
        self._clock.on_span = self._before
        if self in RECORDERS:
            RECORDERS.remove(self)

    def record_span(self, span: Span, now: float) -> None:
        """Record a span of the virtual clock.

        For a call on the host, also add a mark to the events of PyTorch's profiler: an event from which `EventReader`
        finds the call again.

        Args:
            span: the span.
            now: the virtual time of the host, in seconds.
        """
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
            self.steps.append(_Step(_runtime_call_of(span.name), span.start, span.end))
            with _RecordFunctionFast(f"{MARK}{len(self.steps) - 1}"):
                pass


def _is_python_call(event: FunctionEvent) -> bool:
    """Return whether an event is a call of a Python function.

    The profiler records such events if its `with_stack` is True.
    """
    return getattr(event, "is_python_function", False)  # before 2.13 the profiler records none as an event


def _is_own_call(event: FunctionEvent) -> bool:
    """Return whether an event is a call of a function of this package.

    Its name then begins with "grader/accelerator/", as "grader/accelerator/dispatch/run.py(120): run" does.
    """
    return _is_python_call(event) and event.name.startswith(_OWN)


def _is_of_simulation(event: FunctionEvent, around: list[FunctionEvent]) -> bool:
    """Return whether an event is a Python call that happens only because of the simulation.

    An example is "<built-in method append of list object at 0x...>" within a function of this package.

    Args:
        event: the event.
        around: the events that contain it, the innermost last.
    """
    if not _is_python_call(event):
        return False
    # What a function of ours calls may be the program's or PyTorch's, which stay; Python's own are ours.
    of_python = event.name.startswith("<") and around and _is_own_call(around[-1])
    return bool(of_python) or any(other.name == _AROUND for other in around)


def _runtime_call_of(name: str) -> str:
    """Return the function of CUDA's runtime that a span of the host stands for.

    "launch mm" stands for "cudaLaunchKernel", "wait for event" for "cudaEventSynchronize". Other names, such as
    "staging", return "".

    Args:
        name: the name of the span.
    """
    kind, _, rest = name.partition(" ")
    if kind == "launch":
        return _CALLS.get(rest, "cudaLaunchKernel")
    if kind == "wait":
        return _WAITS.get(rest.removeprefix("for "), "cudaStreamSynchronize")
    return ""


class EventReader:
    """The profiler's events turned into events of the host and the device, with times of the virtual clock."""

    def __init__(self, recorder: Recorder, device: str) -> None:
        self.recorder = recorder
        self.device = device
        self.kind = DeviceType.CUDA if device == "cuda" else DeviceType.PrivateUse1
        self.host_events: list[FunctionEvent] = []
        self.kernels: list[FunctionEvent] = []
        # When each mark was set, on the profiler's clock, and what the virtual clock said after it.
        self.marked: list[float] = []
        self.step_ends: list[float] = []

    def read(self, events: list[FunctionEvent]) -> list[FunctionEvent]:
        """Return the events of the host and the device with their virtual times, sorted by these.

        Args:
            events: the events that PyTorch's profiler recorded on the CPU.
        """
        opened: dict[int, list[FunctionEvent]] = {}
        for event in events:
            around = opened.setdefault(event.thread, [])
            while around and event.time_range.end > around[-1].time_range.end:
                around.pop()
            self._add_event(event, around)
        marks = {id(event) for event in self.host_events if event.name in HOST_CALLS}
        for event in self.host_events:
            event.use_device = self.device
            if id(event) not in marks:
                event.time_range = Interval(
                    self._virtual_time(event.time_range.start), self._virtual_time(event.time_range.end)
                )
        ordered = [*self.host_events, *self.kernels]
        return sorted(ordered, key=lambda event: (event.time_range.start, -event.time_range.end))

    def _add_event(self, event: FunctionEvent, around: list[FunctionEvent]) -> None:
        """Add an event of the profiler to the host's events.

        A `Recorder`'s mark, such as "simulated#3", is replaced by the step that it stands for. Events of the simulation
        itself are left out. The CPU's memory inside an operator becomes memory of the device.

        Args:
            event: the event.
            around: the events that contain it, the innermost last; the event is appended if it may contain others.
        """
        within = any(other.name == INSIDE for other in around)
        if event.name.startswith(MARK):
            # A kernel belongs to an operator, also where the profiler recorded the functions of Python below it.
            self._add_step(
                event, [other for other in around if other.name not in (INSIDE, _AROUND) and not _is_python_call(other)]
            )
        elif event.name == INSIDE:
            for other in () if within else around:
                # What the CPU took for it stands for what the device takes.
                other.device_memory_usage += other.cpu_memory_usage
                other.cpu_memory_usage = 0
            around.append(event)
        elif event.name == _AROUND or _is_own_call(event):
            around.append(event)
        elif not within and not _is_of_simulation(event, around):
            self.host_events.append(event)
            if not event.is_async:
                around.append(event)

    def _add_step(self, event: FunctionEvent, around: list[FunctionEvent]) -> None:
        """Add the step that a mark stands for: "simulated#3" for `recorder.steps[3]`.

        A step is a call of CUDA's runtime, with the device work that it started.

        Args:
            event: the mark.
            around: the operators that contain it, the innermost last.
        """
        step = self.recorder.steps[int(event.name.removeprefix(MARK))]
        self.marked.append(event.time_range.end)
        self.step_ends.append(self._microseconds(step.end))
        for span in step.work:
            name = _COPIES.get(span.name, span.name)
            kernel = FunctionEvent(
                id=event.id,
                name=name,
                thread=span.stream,
                start_us=self._microseconds(span.start),
                end_us=self._microseconds(span.end),
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
            event.time_range = Interval(self._microseconds(step.start), self._microseconds(step.end))
            self.host_events.append(event)

    def _microseconds(self, moment: float) -> float:
        return (moment - self.recorder.start) * 1e6

    def _virtual_time(self, moment: float) -> float:
        """Return the virtual microseconds at a moment of the profiler's clock.

        They are those at the end of the last step before this moment, counted from the start of the recording.
        """
        place = bisect.bisect_right(self.marked, moment)
        return self.step_ends[place - 1] if place else 0.0


HOST_CALLS = {*_CALLS.values(), *_WAITS.values(), "cudaLaunchKernel", "cudaStreamSynchronize"}


def is_of_device(event: FunctionEvent) -> bool:
    """Return whether a profiler's event is work of a device: a kernel or a copy."""
    return bool(event.device_type != DeviceType.CPU)


def chrome_trace_of(recorder: Recorder, events: EventList) -> list[dict[str, Any]]:
    """Return the events of a Chrome trace: spans of the virtual clock, and operators.

    The operators are in rows of their own. One is `{"ph": "X", "name": "aten::mm", "tid": 1001, "ts": 5.0, ...}`.
    """
    rows = list(trace_events(recorder.spans))
    start = recorder.start * 1e6
    for event in events:
        if not is_of_device(event) and event.name not in HOST_CALLS:
            ranges = {"ts": start + event.time_range.start, "dur": event.time_range.elapsed_us()}
            rows.append(
                {"ph": "X", "name": event.name, "cat": "cpu_op", "pid": 0, "tid": 1000 + event.thread, **ranges}
            )
    return rows
