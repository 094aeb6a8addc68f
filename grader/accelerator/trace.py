"""The virtual clock as a file in the Trace Event Format, which ui.perfetto.dev and chrome://tracing show."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from grader.accelerator.clock import Span

_COPIES = ("host to device", "device to host", "device to device")
_HOST = "host"


def write_trace(spans: Sequence[Span], path: str | os.PathLike[str]) -> None:
    """Write spans of a clock to a file that Perfetto shows.

    Host and devices are processes there, and each has a thread for what it does one after another: calls and waits,
    kernels, copies of each direction. An arrow leads from a launch to its kernel.

    Args:
        spans: those of a clock, in its order.
        path: of the file; it is written over.
    """
    text = json.dumps({"displayTimeUnit": "ns", "traceEvents": list(trace_events(spans))}, indent=0)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")


def trace_events(spans: Sequence[Span]) -> Iterator[dict[str, Any]]:
    """The events of the format, as plain data: names of processes and threads, spans, arrows."""
    tracks = _Tracks()
    told: list[dict[str, Any]] = []
    launch: tuple[Span, dict[str, int]] | None = None
    for number, span in enumerate(spans):
        at = tracks.of(span)
        told.append(_complete(span, at))
        # The clock notes a launch, and then the work that it hands over; of a copy between devices there are two.
        if span.place == _HOST:
            launch = (span, at) if span.name.startswith("launch ") else None
        elif launch is not None and launch[0].name == f"launch {span.name}":
            told += _arrow(number, launch, span, at)
    yield from tracks.names()
    yield from told


class _Tracks:
    """Where each span stands: spans of one thread must not overlap, so that streams get threads of their own."""

    def __init__(self) -> None:
        self.ends: dict[tuple[int, str], list[float]] = {}
        self.threads: dict[tuple[int, str, int], int] = {}

    def of(self, span: Span) -> dict[str, int]:
        """The process and the thread of a span."""
        process, kind = _process(span), _kind(span)
        ends = self.ends.setdefault((process, kind), [])
        # Times are sums of floats: what ends when the next begins may end a trifle later.
        row = next((i for i, end in enumerate(ends) if end <= span.start + 1e-12), len(ends))
        ends[row : row + 1] = [span.end]
        thread = self.threads.setdefault((process, kind, row), len(self.threads) + 1)
        return {"pid": process, "tid": thread}

    def names(self) -> Iterator[dict[str, Any]]:
        """The events that name processes and threads."""
        for process in sorted({process for process, _, _ in self.threads}):
            name = _HOST if process == 0 else f"device {process - 1}"
            yield {"ph": "M", "name": "process_name", "pid": process, "args": {"name": name}}
            yield {"ph": "M", "name": "process_sort_index", "pid": process, "args": {"sort_index": process}}
        for (process, kind, row), thread in self.threads.items():
            name = f"{kind} {row + 1}" if row else kind
            yield {"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": name}}


def _process(span: Span) -> int:
    if span.place == _HOST:
        return 0
    # A place that is no number was told by somebody who does not know it; it comes last.
    return int(span.place) + 1 if span.place.isdecimal() else 1 << 10


def _kind(span: Span) -> str:
    if span.place == _HOST:
        first = span.name.partition(" ")[0]
        return {"wait": "waits", "range": "ranges"}.get(first, "calls")
    if span.name == "scalar to host":
        return "device to host"
    return span.name if span.name in _COPIES else "kernels"


def _complete(span: Span, at: dict[str, int]) -> dict[str, Any]:
    event = {"ph": "X", "name": span.name, "cat": _kind(span), **at}
    return event | {"ts": _micro(span.start), "dur": _micro(span.end - span.start)}


def _arrow(
    number: int, launch: tuple[Span, dict[str, int]], work: Span, at: dict[str, int]
) -> Iterable[dict[str, Any]]:
    known = {"name": "launch", "cat": "launch", "id": number}
    started, place = launch
    yield {"ph": "s", **known, **place, "ts": _micro(started.start)}
    yield {"ph": "f", "bp": "e", **known, **at, "ts": _micro(work.start)}


def _micro(seconds: float) -> float:
    # The format counts in microseconds; thousandths of a nanosecond are noise of the floats.
    return round(seconds * 1e6, 6)
