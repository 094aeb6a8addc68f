"""A sample: what calls of either side take, in turns on the same inputs. Arithmetic, no clock of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

_HOPELESS = 10.0
_HOPELESS_IDLE = 3.0


@dataclass(frozen=True)
class Sample:
    """One call of each side, in seconds; where several were timed together, their mean.

    Attributes:
        mine: CPU time of the side that is judged.
        other: CPU time of the side that it is compared with.
        mine_away: time in which the first neither ran nor was ready to run: it slept, or waited for others.
        other_away: the same of the second.
        idle: CPU time of a call that does nothing, or None where it was not measured anew.
        other_idle: the same for the second, where another number of its calls are timed together; else None.
        disturbed: whether it was other programs, or first use of memory, that took a good part of either time.
        stopped: whether the judged side was stopped, and so took longer than that.
    """

    mine: float
    other: float
    mine_away: float = 0.0
    other_away: float = 0.0
    idle: float | None = None
    stopped: bool = False
    other_idle: float | None = None
    disturbed: bool = False

    def idles(self) -> Idle | None:
        """What asking and answering cost here, for either side."""
        if self.idle is None:
            return None
        return Idle(self.idle, self.idle if self.other_idle is None else self.other_idle)

    def least(self, more: Sample) -> Sample:
        """What is the less in either of two samples that were not stopped."""
        pairs = zip(self._times(), more._times(), strict=True)
        mine, other, mine_away, other_away, idle, other_idle = (
            None if a is None or b is None else min(a, b) for a, b in pairs
        )
        return Sample(mine or 0.0, other or 0.0, mine_away or 0.0, other_away or 0.0, idle, other_idle=other_idle)

    def _times(self) -> tuple[float | None, ...]:
        return self.mine, self.other, self.mine_away, self.other_away, self.idle, self.other_idle

    def other_net(self) -> float:
        """CPU time of the second, without asking and answering where that was measured."""
        idle = self.idles()
        return self.other - (idle.other if idle else 0.0)


class Idle(NamedTuple):
    """CPU time of a call that does nothing, for either side."""

    mine: float
    other: float

    def least(self, more: Idle | None) -> Idle:
        """The least of both, for each side."""
        return self if more is None else Idle(min(self.mine, more.mine), min(self.other, more.other))


def is_hopeless(sample: Sample, limit: float) -> bool:
    """Whether one sample says enough: the call was stopped, or took ten times the limit even without the asking."""
    if sample.stopped:
        return True
    return sample.idle is not None and sample.mine - _HOPELESS_IDLE * sample.idle > _HOPELESS * limit * sample.other


def hopeless_s(other: float, limit: float) -> float:
    """CPU seconds after which a call can be stopped, where the other side took `other`: well above hopeless."""
    return 2 * _HOPELESS * limit * other
