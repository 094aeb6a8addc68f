"""A trace is what the Trace Event Format asks for, so that Perfetto and Chrome open it."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from grader.model.picture import Moment
from grader.report.pictures.timeline import Traced, trace_of

KERNEL = Moment("mm", "0", 4e-5, 9e-5, 0, "kernels", 1200, ((2, 3), (3, 4)))
MOMENTS = (
    Moment("launch host to device", "host", 5e-6, 1e-5),
    Moment("host to device", "0", 1e-5, 4e-5, 0, "host to device", 4000),
    Moment("wait for copy", "host", 1e-5, 4e-5),
    KERNEL,
    Moment("add", "0", 5e-5, 6e-5, 2, "kernels"),
)


def faults_of(trace: dict[str, Any]) -> list[str]:
    """What is not as the format says: of complete events, of metadata, and of slices that overlap in one lane."""
    found = []
    lanes: dict[tuple[int, int], list[tuple[float, float]]] = {}
    named = {(event["pid"], event["tid"]) for event in trace["traceEvents"] if event["name"] == "thread_name"}
    for event in trace["traceEvents"]:
        if event["ph"] == "M":
            known = {"process_name": "name", "thread_name": "name", "process_sort_index": "sort_index"}
            found += [f"metadata {event}"] * (set(event["args"]) != {known.get(event["name"])})
            continue
        numbers = all(type(event[key]) in (int, float) and event[key] >= 0 for key in ("ts", "dur"))
        whole = isinstance(event["name"], str) and isinstance(event["cat"], str) and isinstance(event["args"], dict)
        found += [f"event {event}"] * (event["ph"] != "X" or not numbers or not whole)
        lane = event["pid"], event["tid"]
        found += [f"no name {lane}"] * (lane not in named)
        lanes.setdefault(lane, []).append((event["ts"], event["ts"] + event["dur"]))
    for lane, slices in lanes.items():
        found += [f"overlap {lane}" for (_, end), (start, _) in pairwise(sorted(slices)) if start < end - 1e-6]
    return found


def test_a_trace_is_in_the_format() -> None:
    """Slices are complete events in lanes that have names and in which they do not overlap; it is JSON."""
    trace = trace_of([Traced("one", MOMENTS), Traced("none", ()), Traced("two", MOMENTS)])
    assert json.loads(json.dumps(trace)) == trace
    assert faults_of(trace) == []
    assert [event["name"] for event in trace["traceEvents"] if event.get("cat") == "run"] == ["one", "two"]


def test_lanes_are_the_host_streams_and_copies() -> None:
    """Each stream has a lane for its kernels and one for each way of its copies."""
    trace = trace_of([Traced("one", MOMENTS)])
    names = {event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "thread_name"}
    assert names == {"what ran", "host", "stream 0", "stream 0, host to device", "stream 2"}


def test_shapes_and_bytes_are_arguments() -> None:
    """A slice begins where it did, in microseconds, and tells shapes and bytes."""
    trace = trace_of([Traced("one", MOMENTS)])
    (found,) = [event for event in trace["traceEvents"] if event["name"] == "mm"]
    assert (found["ts"], found["dur"], found["cat"]) == (35.0, 50.0, "kernel")
    assert found["args"] == {"shapes": [[2, 3], [3, 4]], "bytes": 1200}
