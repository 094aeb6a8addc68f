"""Ranges of NVTX, as spans on the virtual clock."""

from __future__ import annotations

import itertools

from grader.accelerator.sim.machine import Machine


class Ranges:
    """Ranges of NVTX, as spans on the virtual clock; they nest."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._open: list[tuple[str, float]] = []
        self._started: dict[int, tuple[str, float]] = {}
        self._numbers = itertools.count(1)

    # The names are those of the extension that `torch.cuda.nvtx` calls.
    def rangePushA(self, name: str) -> int:  # noqa: N802
        """Open a nested range, and return how many were open before: 0 for the first."""
        self._open.append((name, self._machine.clock.host))
        return len(self._open) - 1

    def rangePop(self) -> int:  # noqa: N802
        """Close the nested range that was opened last, and return how many are still open.

        The result is 0 after the outermost range, and -2 without an open range.
        """
        if not self._open:
            return -2
        self._record_span(*self._open.pop())
        return len(self._open)

    def rangeStartA(self, name: str) -> int:  # noqa: N802
        """Open a range that need not be nested in other ranges.

        Return its number, by which `rangeEnd` closes it.
        """
        number = next(self._numbers)
        self._started[number] = name, self._machine.clock.host
        return number

    def rangeEnd(self, number: int) -> None:  # noqa: N802
        """Close the range that has the number that `rangeStartA` returned."""
        if number in self._started:
            self._record_span(*self._started.pop(number))

    def markA(self, name: str) -> None:  # noqa: N802
        """Do nothing: a mark has no duration, and spans show durations only."""

    def deviceRangeStart(self, name: str, stream: int) -> int:  # noqa: N802
        """Open a range on the host, and return its number.

        `deviceRangeEnd` closes the range by this number. `stream` is not used.
        """
        del stream
        return self.rangeStartA(name)

    def deviceRangeEnd(self, number: int, stream: int) -> None:  # noqa: N802
        """Close the range that has the number that `deviceRangeStart` returned."""
        del stream
        self.rangeEnd(number)

    def _record_span(self, name: str, start: float) -> None:
        self._machine.clock.record_span(f"range {name}", "host", start, self._machine.clock.host)
