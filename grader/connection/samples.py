"""A sample: what calls of either side take, in turns on the same inputs. Arithmetic, no clock of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

_HOPELESS = 10.0
_HOPELESS_IDLE = 3.0


class Sides(NamedTuple):
    """Seconds of either side: of the one that is judged, and of the other."""

    mine: float
    other: float

    def least(self, more: Sides | None) -> Sides:
        """The least of both, for each side."""
        return self if more is None else Sides(min(self.mine, more.mine), min(self.other, more.other))


NOTHING = Sides(0.0, 0.0)


@dataclass(frozen=True)
class Sample:
    """One call of each side; where several were timed together, their mean.

    Attributes:
        cpu: CPU time.
        away: time in which a side neither ran nor was ready to run: it slept, or waited for others.
        idle: CPU time of a call that does nothing, or None where it was not measured anew.
        disturbed: whether it was other programs, or first use of memory, that took a good part of either time.
        stopped: whether the judged side was stopped, and so took longer than that.
    """

    cpu: Sides
    away: Sides = NOTHING
    idle: Sides | None = None
    disturbed: bool = False
    stopped: bool = False

    def least(self, more: Sample) -> Sample:
        """What is the less in either of two samples that were not stopped."""
        idle = None if self.idle is None else self.idle.least(more.idle)
        return Sample(self.cpu.least(more.cpu), self.away.least(more.away), idle)

    def net(self) -> Sides:
        """CPU time, without asking and answering where that was measured."""
        idle = self.idle or NOTHING
        return Sides(self.cpu.mine - idle.mine, self.cpu.other - idle.other)


def is_hopeless(sample: Sample, limit: float) -> bool:
    """Whether one sample says enough: the call was stopped, or took ten times the limit even without the asking."""
    if sample.stopped:
        return True
    idle, (mine, other) = sample.idle, sample.cpu
    return idle is not None and mine - _HOPELESS_IDLE * idle.mine > _HOPELESS * limit * other


def hopeless_s(other: float, limit: float) -> float:
    """CPU seconds after which a call can be stopped, where the other side took `other`: well above hopeless."""
    return 2 * _HOPELESS * limit * other
