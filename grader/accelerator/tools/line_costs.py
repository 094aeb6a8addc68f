"""What took virtual time, summed up: by line of a program, and how long each device had work."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

from grader.accelerator.sim.program_lines import PACKAGE
from grader.accelerator.timeline import Span

Line = tuple[str, int]
"""A file and a line."""


@dataclass(slots=True)
class Cost:
    """Virtual seconds of one line."""

    device: float = 0.0
    """Work that the line gave to devices."""
    host: float = 0.0
    """What the host did, launches above all."""
    waits: float = 0.0

    @property
    def longer_seconds(self) -> float:
        """The seconds of the device or those of the host, whichever are more.

        Both run at the same time.
        """
        return max(self.device, self.host + self.waits)


@dataclass(slots=True)
class _BusyTime:
    """The time for which a device had work, in any of its streams."""

    seconds: float = 0.0
    last: list[tuple[float, float]] = field(default_factory=list)

    def add(self, start: float, end: float, now: float) -> None:
        """Add a span of work, in virtual seconds; time in which spans overlap counts once.

        After the spans from 0 to 2 and from 1 to 3, the total is 3.

        Args:
            start: the start of the span.
            end: the end of the span.
            now: the time of the host's clock; spans that are added later must not begin before it.
        """
        spans = sorted([*self.last, (start, end)])
        merged = [spans[0]]
        for begin, stop in spans[1:]:
            if begin <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], stop))
            else:
                merged.append((begin, stop))
        self.seconds += sum(stop - begin for begin, stop in merged if stop < now)
        self.last = [span for span in merged if span[1] >= now]

    def total(self) -> float:
        """Return the seconds so far for which the device had work."""
        return self.seconds + sum(stop - begin for begin, stop in self.last)


class Ledger:
    """The virtual time of each line of a program; to fill it, set `machine.clock.on_span = ledger.add_span`.

    Args:
        folder: the program's folder. A span counts for the innermost line of a file there.
    """

    def __init__(self, folder: Path) -> None:
        self.lines: dict[Line, Cost] = {}
        self._folder = str(folder)
        self._devices: dict[str, _BusyTime] = {}
        self._ours: dict[CodeType, bool] = {}

    def add_span(self, span: Span, now: float) -> None:
        """Add a span of the virtual clock to the costs of the program's current line.

        Args:
            span: the span.
            now: the time of the host's clock.
        """
        # A range of the program's contains parts, which are noted by themselves.
        if span.name.startswith("range "):
            return
        seconds = span.end - span.start
        if span.place != "host":
            self._devices.setdefault(span.place, _BusyTime()).add(span.start, span.end, now)
        if (line := self._program_line()) is None:
            return
        cost = self.lines.setdefault(line, Cost())
        if span.place != "host":
            cost.device += seconds
        elif span.name.startswith("wait"):
            cost.waits += seconds
        else:
            cost.host += seconds

    def busy_seconds(self, index: int) -> float:
        """Return the virtual seconds for which a device had work in any stream."""
        return self._devices[str(index)].total() if str(index) in self._devices else 0.0

    def slowest(self, count: int) -> list[tuple[Line, Cost]]:
        """Return the `count` lines that took the most virtual time, with their costs.

        An item of the result is `(("/home/ada/train.py", 12), Cost(...))`.
        """
        return sorted(self.lines.items(), key=lambda item: -item[1].longer_seconds)[:count]

    def _program_line(self) -> Line | None:
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and not self._is_of_program(frame.f_code):
            frame = frame.f_back
        return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)

    def _is_of_program(self, code: CodeType) -> bool:
        known = self._ours.get(code)
        if known is None:
            name = code.co_filename
            # What is installed may lie below the program's folder, and so may this package.
            installed = "site-packages" in name or name.startswith(PACKAGE)
            self._ours[code] = known = name.startswith(self._folder) and not installed
        return known
