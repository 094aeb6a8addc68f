"""What took virtual time, as a timeline of text and as a file in the Trace Event Format.

ui.perfetto.dev and chrome://tracing show such a file. Standard library only: the host draws without PyTorch.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

COPIES = ("host to device", "device to host", "device to device")
_HOST = "host"
_PROCESS_OF_RUNS = 1 << 10
"""The process of what ran, in a trace: behind those of all devices."""

_NAME, _TIME = 29, 10
_NARROW, _NARROW_NAME = 64, 18


class Span(NamedTuple):
    """Something that took virtual time.

    Attributes:
        name: the operator, "host to device" and the like, or what the host waits for.
        place: "host", or the index of the device as text, such as "0".
        start: its begin, in virtual seconds.
        end: its end, in virtual seconds.
        stream: the number of the stream, if a device did it.
        unit: the part of the device that works: "kernels", or a direction in which bytes go.
        nbytes: the number of bytes that are moved, through memory or over the bus.
        shapes: the shapes of the tensors that an operator was given.
    """

    name: str
    place: str
    start: float
    end: float
    stream: int = 0
    unit: str = ""
    nbytes: int = 0
    shapes: tuple[tuple[int, ...], ...] = ()


def shift_spans(spans: Iterable[Any], seconds: float) -> list[Span]:
    """Return a copy of each span, with `seconds` added to its start and its end.

    With -2.0, a span from 2.0 to 2.5 becomes one from 0.0 to 0.5, so that a drawing begins at 0.

    Args:
        spans: the spans, or objects with the attributes of a `Span`.
        seconds: the virtual seconds that are added.
    """
    return [
        Span(one.name, one.place, one.start + seconds, one.end + seconds, one.stream, one.unit, one.nbytes, one.shapes)
        for one in spans
    ]


def timeline(spans: Sequence[Span], *, rows: int = 20, width: int = 80, marks: str = "#=.", side: str = "|") -> str:
    """Return a text that draws each span of virtual time as a bar in a row of its own.

    With a width of 64, it has lines such as these:

        host: launch add             |=======                 |     5 us
        GPU 0: add                   |      ###               |     2 us
        host: wait for item          |      ................  |    12 us

    Args:
        spans: the spans of a clock.
        rows: the largest number of spans that are shown: the longest ones. The last line counts those left out.
        width: the width of a line, in characters.
        marks: the characters for work of a device, work of the host, and a wait of the host.
        side: the character at both ends of a bar.

    Returns:
        A line with the first and the last time, then a line for each span that is shown; "" for no spans.
    """
    if not spans:
        return ""
    start, end = min(span.start for span in spans), max(span.end for span in spans)
    # The longest spans are kept, since they are what the time went to, and shown in the order of time again.
    shown = sorted(spans, key=lambda span: span.start - span.end)[:rows]
    shown.sort(key=lambda span: (span.start, span.end))
    name = _NAME if width >= _NARROW else _NARROW_NAME
    columns = width - name - _TIME - 2
    scale = columns / (end - start or 1.0)
    half = columns // 2
    lines = [f"{'':{name}}{side}{time_text(start):<{half}}{time_text(end):>{columns - half}}{side}"]
    for span in shown:
        # Each span is seen, at least as one character, and none leaves the frame.
        left = min(int((span.start - start) * scale), columns - 1)
        length = max(1, min(round((span.end - span.start) * scale), columns - left))
        mark = marks[0] if span.place != _HOST else marks[2] if span.name.startswith("wait") else marks[1]
        who = "host:" if span.place == _HOST else f"GPU {span.place}:"
        label = f"{who} {span.name}"[: name - 1]
        bar = f"{label:{name}}{side}{' ' * left}{mark * length}".ljust(width - _TIME)
        lines.append(f"{bar}{side}{time_text(span.end - span.start):>{_TIME - 1}}")
    if len(spans) > rows:
        lines.append(f"{len(spans) - rows} shorter ones are left out")
    return "\n".join(line.rstrip() for line in lines)


def time_text(seconds: float) -> str:
    """Return a time as text with three digits and a unit, such as `12.5 ms`."""
    if seconds <= 0:
        return "0 s"
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= unit:
            return f"{_three_digits(seconds / unit)} {name}"
    return f"{_three_digits(seconds / 1e-9)} ns"


def _three_digits(number: float) -> str:
    # Not 1e+03, which `g` makes of 999.6.
    return f"{number:.0f}" if number >= 99.95 else f"{number:.3g}"


def write_trace(spans: Sequence[Span], path: str | os.PathLike[str]) -> None:
    """Write spans of the virtual clock to a trace file, which Perfetto shows.

    The file is in the Trace Event Format. Host and devices are processes there, and each has a thread for what it does
    one after another: calls and waits, kernels, copies of each direction. An arrow leads from a launch to its kernel.

    Args:
        spans: the spans of a clock, in its order.
        path: the path of the file, which is overwritten.
    """
    text = json.dumps({"displayTimeUnit": "ns", "traceEvents": list(trace_events(spans))}, indent=0)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")


def trace_events(spans: Sequence[Span]) -> Iterator[dict[str, Any]]:
    """Yield the events of the Trace Event Format for spans, as dicts.

    A kernel `add` of 2 microseconds is `{"ph": "X", "name": "add", "pid": 1, "tid": 2, "ts": 5.0, "dur": 2.0, ...}`.
    The first events name processes and threads. Then come the spans, and the arrows between them. Spans whose place is
    neither "host" nor the index of a device are in a process of their own, after all devices.
    """
    tracks = _Tracks()
    made: list[dict[str, Any]] = []
    launch: tuple[Span, dict[str, int]] | None = None
    for number, span in enumerate(spans):
        at = tracks.ids_of(span)
        made.append(_span_event(span, at))
        # The clock notes a launch, and then the work that it hands over; of a copy between devices there are two.
        if span.place == _HOST:
            launch = (span, at) if span.name.startswith("launch ") else None
        elif launch is not None and launch[0].name == f"launch {span.name}":
            made += _launch_arrow_events(number, launch, span, at)
    yield from tracks.name_events()
    yield from made


class _Tracks:
    """The process and thread of a trace that show each span: spans of one thread must not overlap."""

    def __init__(self) -> None:
        self.ends: dict[tuple[int, str], list[float]] = {}
        self.threads: dict[tuple[int, str, int], int] = {}

    def ids_of(self, span: Span) -> dict[str, int]:
        """Return the process and the thread that show a span in a trace.

        An example is `{"pid": 1, "tid": 2}`: process 0 is the host, and 1 the first device. A new thread is added if
        all others of its kind are busy.
        """
        process, kind = _process(span), _kind(span) + (f", stream {span.stream}" if span.stream else "")
        ends = self.ends.setdefault((process, kind), [])
        # Times are sums of floats: what ends when the next begins may end a trifle later.
        row = next((i for i, end in enumerate(ends) if end <= span.start + 1e-12), len(ends))
        ends[row : row + 1] = [span.end]
        thread = self.threads.setdefault((process, kind, row), len(self.threads) + 1)
        return {"pid": process, "tid": thread}

    def name_events(self) -> Iterator[dict[str, Any]]:
        """Yield the events that name each process and each thread of the trace.

        One is `{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "device 0"}}`.
        """
        for process in sorted({process for process, _, _ in self.threads}):
            name = {0: _HOST, _PROCESS_OF_RUNS: "what ran"}.get(process, f"device {process - 1}")
            yield {"ph": "M", "name": "process_name", "pid": process, "args": {"name": name}}
            yield {"ph": "M", "name": "process_sort_index", "pid": process, "args": {"sort_index": process}}
        for (process, kind, row), thread in self.threads.items():
            name = f"{kind} {row + 1}" if row else kind
            yield {"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": name}}


def _process(span: Span) -> int:
    if span.place == _HOST:
        return 0
    return int(span.place) + 1 if span.place.isdecimal() else _PROCESS_OF_RUNS


def _kind(span: Span) -> str:
    if span.place == _HOST:
        first = span.name.partition(" ")[0]
        return {"wait": "waits", "range": "ranges"}.get(first, "calls")
    if not span.place.isdecimal():
        return "run"
    if span.name == "scalar to host":
        return "device to host"
    return span.name if span.name in COPIES else "kernels"


def _span_event(span: Span, at: dict[str, int]) -> dict[str, Any]:
    event = {"ph": "X", "name": span.name, "cat": _kind(span), **at}
    made = {"shapes": [list(shape) for shape in span.shapes], "bytes": span.nbytes}
    made = {name: value for name, value in made.items() if value}
    return (
        event
        | {"ts": _microseconds(span.start), "dur": _microseconds(span.end - span.start)}
        | ({"args": made} if made else {})
    )


def _launch_arrow_events(
    number: int, launch: tuple[Span, dict[str, int]], work: Span, at: dict[str, int]
) -> Iterable[dict[str, Any]]:
    known = {"name": "launch", "cat": "launch", "id": number}
    started, place = launch
    yield {"ph": "s", **known, **place, "ts": _microseconds(started.start)}
    yield {"ph": "f", "bp": "e", **known, **at, "ts": _microseconds(work.start)}


def _microseconds(seconds: float) -> float:
    # The format counts in microseconds; thousandths of a nanosecond are noise of the floats.
    return round(seconds * 1e6, 6)
