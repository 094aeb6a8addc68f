"""Moments as a trace in the Trace Event Format, which Perfetto and chrome://tracing open.

The host is a process with one lane. Each device is a process: a lane for each stream's kernels, and one for each way in
which a stream copies. Times are virtual, in microseconds. What ran is a slice on a lane of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grader.model.picture import Moment

_US = 1e6
_GAP = 1e-6
_RUNS, _HOST, _FIRST_DEVICE = 1, 2, 10
_KERNELS = "kernels"


@dataclass(frozen=True)
class Traced:
    """What ran, and what took virtual time meanwhile."""

    title: str
    moments: tuple[Moment, ...]


def trace_of(runs: Sequence[Traced]) -> dict[str, Any]:
    """The trace of several runs, one after another, as JSON data."""
    lanes: dict[tuple[int, str], int] = {}
    events: list[dict[str, Any]] = []
    now = 0.0
    for run in (run for run in runs if run.moments):
        zero, end = min(one.start for one in run.moments), max(one.end for one in run.moments)
        shift = now - zero
        events.append(_slice(run.title, "run", _lane(lanes, _RUNS, "what ran"), (now, end + shift), {}))
        for one in sorted(run.moments, key=lambda one: (one.start, -one.end)):
            process, lane = _place(one)
            times = one.start + shift, one.end + shift
            events.append(_slice(one.name, _category(one), _lane(lanes, process, lane), times, _arguments(one)))
        now = end + shift + _GAP
    return {"traceEvents": [*_names(lanes), *events], "displayTimeUnit": "ns"}


def _place(moment: Moment) -> tuple[int, str]:
    """The process and the lane of a moment."""
    if not moment.place.isdigit():
        return _HOST, "host"
    lane = f"stream {moment.stream}"
    return _FIRST_DEVICE + int(moment.place), lane if moment.unit in ("", _KERNELS) else f"{lane}, {moment.unit}"


def _category(moment: Moment) -> str:
    if moment.place.isdigit():
        return "kernel" if moment.unit in ("", _KERNELS) else "copy"
    word = moment.name.split(" ")[0]
    return word if word in ("launch", "wait") else "host"


def _arguments(moment: Moment) -> dict[str, Any]:
    told: dict[str, Any] = {"shapes": [list(shape) for shape in moment.shapes]} if moment.shapes else {}
    return {**told, "bytes": moment.nbytes} if moment.nbytes else told


def _lane(lanes: dict[tuple[int, str], int], process: int, name: str) -> tuple[int, int]:
    return process, lanes.setdefault((process, name), len(lanes) + 1)


def _slice(
    name: str, category: str, lane: tuple[int, int], times: tuple[float, float], arguments: dict[str, Any]
) -> dict[str, Any]:
    start, end = (round(moment * _US, 6) for moment in times)
    return {
        "name": name,
        "cat": category,
        "ph": "X",
        "ts": start,
        "dur": round(end - start, 6),
        "pid": lane[0],
        "tid": lane[1],
        "args": arguments,
    }


def _names(lanes: dict[tuple[int, str], int]) -> list[dict[str, Any]]:
    """The names of processes and lanes, in an order that a reader expects."""
    found = []
    for process in sorted({process for process, _ in lanes}):
        told = {_RUNS: "what ran", _HOST: "host"}.get(process, f"device {process - _FIRST_DEVICE}")
        found.append(_metadata("process_name", process, 0, {"name": told}))
        found.append(_metadata("process_sort_index", process, 0, {"sort_index": process}))
    for (process, name), number in lanes.items():
        found.append(_metadata("thread_name", process, number, {"name": name}))
    return found


def _metadata(name: str, process: int, lane: int, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "ph": "M", "pid": process, "tid": lane, "args": arguments}
