"""What host and devices did on a simulated machine, as a picture in the order of time."""

from __future__ import annotations

from collections.abc import Iterator

from grader.accelerator.spans import COPIES, shifted, time_text, timeline
from grader.model.picture import Moment
from grader.report.pictures.canvas import BLUE, CHAR, FAINT, INK, LINE, ORANGE, PAPER, SKY, Canvas, Drawing

_LONGEST = 500
_COPIES = (*COPIES, "scalar to host")


def timeline_lines(moments: tuple[Moment, ...], left_out: int, width: int, drawing: Drawing) -> Iterator[str]:
    """A row for each, its bar where its time is, from 0 on."""
    spans = shifted(moments, -min(one.start for one in moments))
    marks = drawing.work + drawing.host + drawing.wait
    yield from timeline(spans, rows=len(spans), width=width, marks=marks, side=drawing.side).split("\n")
    if left_out:
        yield f"{left_out:,} more follow"
    legend = [f"{drawing.work} a device works", f"{drawing.host} the host works", f"{drawing.wait} the host waits"]
    whole = ", ".join(legend)
    yield from [whole] if len(whole) <= width else legend


def timeline_sentence(moments: tuple[Moment, ...], left_out: int) -> str:
    """How often and for how long the host waited, and what was copied."""
    waits = [one for one in moments if one.place == "host" and one.name.startswith("wait")]
    copies = [one for one in moments if one.place != "host" and one.name in _COPIES]
    kernels = [one for one in moments if one.place != "host" and one.name not in _COPIES]
    whole = max(one.end for one in moments) - min(one.start for one in moments)
    waited = sum(one.end - one.start for one in waits)
    ran = f"{_many(len(kernels), 'kernel')} and {_many(len(copies), 'copy', 'copies')} ran"
    told = f"In {time_text(whole)} of virtual time {ran}, and the host waited {_many(len(waits), 'time')}"
    told += f", for {time_text(waited)} in all" if waits else ""
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
    canvas.words(
        left, y, f"0 to {time_text(end - zero)}; hollow: the host waits; orange and lower: a copy", colour=FAINT
    )
    return canvas.svg("What host and devices did", timeline_sentence(moments, left_out))
