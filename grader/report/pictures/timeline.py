"""What host and devices did on a simulated machine: as a picture in the order of time, and as a trace.

A trace is in the Trace Event Format, which Perfetto and chrome://tracing open. The host is a process with one lane.
Each device is a process: a lane for each stream's kernels, and one for each way in which a stream copies. Times are
virtual, in microseconds. What ran is a slice on a lane of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from grader.model.picture import Moment
from grader.report.pictures.canvas import BLUE, CHAR, FAINT, INK, LINE, ORANGE, PAPER, SKY, Canvas, Drawing, fitted

_NAME, _TIME = 29, 10
_NARROW_NAME = 18
_NARROW = 64
_LONGEST = 500
_COPIES = ("host to device", "device to host", "device to device", "scalar to host")
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))


def timeline_lines(moments: tuple[Moment, ...], left_out: int, width: int, drawing: Drawing) -> Iterator[str]:
    """A row for each, its bar where its time is."""
    zero, end = min(one.start for one in moments), max(one.end for one in moments)
    name = _NAME if width >= _NARROW else _NARROW_NAME
    room = width - name - _TIME - 2
    scale = room / (end - zero or 1.0)
    side = drawing.side
    yield f"{'':{name}}{side}{'0 ns':<{room // 2}}{_time(end - zero):>{room - room // 2}}{side}"
    for one in sorted(moments, key=lambda one: (one.start, one.end)):
        left = min(int((one.start - zero) * scale), room - 1)
        length = max(1, min(round((one.end - one.start) * scale), room - left))
        label = fitted(f"{_who(one)} {one.name}", name - 1)
        bar = (" " * left + _mark(one, drawing) * length).ljust(room)
        yield f"{label:{name}}{side}{bar}{side}{_time(one.end - one.start):>{_TIME - 1}}"
    if left_out:
        yield f"{left_out:,} more follow"
    legend = [f"{drawing.work} a device works", f"{drawing.host} the host works", f"{drawing.wait} the host waits"]
    whole = ", ".join(legend)
    yield from [whole] if len(whole) <= width else legend


def _mark(moment: Moment, drawing: Drawing) -> str:
    if moment.place != "host":
        return drawing.work
    return drawing.wait if moment.name.startswith("wait") else drawing.host


def _who(moment: Moment) -> str:
    return "host" if moment.place == "host" else f"dev{moment.place}"


def _time(seconds: float) -> str:
    unit, name = next(((unit, name) for unit, name in _UNITS if seconds >= unit), (1e-9, "ns"))
    return f"{seconds / unit:.3g} {name}"


def timeline_sentence(moments: tuple[Moment, ...], left_out: int) -> str:
    """How often and for how long the host waited, and what was copied."""
    waits = [one for one in moments if one.place == "host" and one.name.startswith("wait")]
    copies = [one for one in moments if one.place != "host" and one.name in _COPIES]
    kernels = [one for one in moments if one.place != "host" and one.name not in _COPIES]
    whole = max(one.end for one in moments) - min(one.start for one in moments)
    waited = sum(one.end - one.start for one in waits)
    ran = f"{_many(len(kernels), 'kernel')} and {_many(len(copies), 'copy', 'copies')} ran"
    told = f"In {_time(whole)} of virtual time {ran}, and the host waited {_many(len(waits), 'time')}"
    told += f", for {_time(waited)} in all" if waits else ""
    return f"{told}; {left_out:,} more steps follow." if left_out else f"{told}."


def _many(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def timeline_svg(moments: tuple[Moment, ...], left_out: int) -> str:
    """A lane for the host and one for each device; waits are hollow, copies are lower than kernels."""
    canvas = Canvas()
    zero, end = min(one.start for one in moments), max(one.end for one in moments)
    scale = _LONGEST / (end - zero or 1.0)
    lanes = sorted({one.place for one in moments}, key=lambda place: (place != "host", place))
    left = 6 * CHAR
    for row, place in enumerate(lanes):
        top = row * (LINE + 12)
        canvas.words(0, top + LINE - 5, "host" if place == "host" else f"dev{place}")
        for one in (one for one in moments if one.place == place):
            waits, copies = one.name.startswith("wait"), one.name in _COPIES
            fill = PAPER if waits else ORANGE if copies else BLUE if place != "host" else SKY
            x = left + (one.start - zero) * scale
            length, shrunk = max(2.0, (one.end - one.start) * scale), 6 if waits else 3 if copies else 0
            canvas.box(x, top + shrunk, length, LINE - 2 * shrunk, fill=fill, edge=INK)
    y = len(lanes) * (LINE + 12) + LINE
    canvas.words(left, y, f"0 to {_time(end - zero)}; hollow: the host waits; orange and lower: a copy", colour=FAINT)
    return canvas.svg("What host and devices did", timeline_sentence(moments, left_out))


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
            process, lane = _process_of(one)
            times = one.start + shift, one.end + shift
            events.append(_slice(one.name, _category(one), _lane(lanes, process, lane), times, _arguments(one)))
        now = end + shift + _GAP
    return {"traceEvents": [*_names(lanes), *events], "displayTimeUnit": "ns"}


def _process_of(moment: Moment) -> tuple[int, str]:
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
