"""The virtual clock in the Trace Event Format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from grader.accelerator import Span, write_trace


def events(path: Path, *spans: Span) -> list[dict[str, Any]]:
    write_trace(spans, path)
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["displayTimeUnit"] == "ns"
    return list(found["traceEvents"])


def test_a_launch_and_its_kernel(tmp_path: Path) -> None:
    """Host and device are processes with named threads; times are microseconds; an arrow joins launch and work."""
    spans = (
        Span("launch mm", "host", 0.0, 5e-6),
        Span("mm", "1", 5e-6, 2.5e-5),
        Span("wait for item", "host", 5e-6, 3e-5),
    )
    host, kernels, waits = {"pid": 0, "tid": 1}, {"pid": 2, "tid": 2}, {"pid": 0, "tid": 3}
    arrow = {"name": "launch", "cat": "launch", "id": 1}
    assert events(tmp_path / "trace.json", *spans) == [
        {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "host"}},
        {"ph": "M", "name": "process_sort_index", "pid": 0, "args": {"sort_index": 0}},
        {"ph": "M", "name": "process_name", "pid": 2, "args": {"name": "device 1"}},
        {"ph": "M", "name": "process_sort_index", "pid": 2, "args": {"sort_index": 2}},
        {"ph": "M", "name": "thread_name", **host, "args": {"name": "calls"}},
        {"ph": "M", "name": "thread_name", **kernels, "args": {"name": "kernels"}},
        {"ph": "M", "name": "thread_name", **waits, "args": {"name": "waits"}},
        {"ph": "X", "name": "launch mm", "cat": "calls", **host, "ts": 0.0, "dur": 5.0},
        {"ph": "X", "name": "mm", "cat": "kernels", **kernels, "ts": 5.0, "dur": 20.0},
        {"ph": "s", **arrow, **host, "ts": 0.0},
        {"ph": "f", "bp": "e", **arrow, **kernels, "ts": 5.0},
        {"ph": "X", "name": "wait for item", "cat": "waits", **waits, "ts": 5.0, "dur": 25.0},
    ]


def test_what_overlaps_has_threads_of_its_own(tmp_path: Path) -> None:
    """Kernels of two streams, and copies, stand in threads in which nothing overlaps; a thread is used again."""
    spans = [Span("mm", "0", 0.0, 2.0), Span("add", "0", 1.0, 3.0), Span("mul", "0", 2.0, 4.0)]
    spans += [Span("host to device", "0", 0.0, 1.0), Span("scalar to host", "0", 1.0, 2.0)]
    found = events(tmp_path / "trace.json", *spans)
    names = {event["tid"]: event["args"]["name"] for event in found if event["name"] == "thread_name"}
    where = [names[event["tid"]] for event in found if event["ph"] == "X"]
    assert where == ["kernels", "kernels 2", "kernels", "host to device", "device to host"]
