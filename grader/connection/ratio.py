"""The decision about a ratio of two times: arithmetic on samples, no clock and no process of its own.

A *sample* is what one call of each side takes: of short ones, the mean of several. Samples come from a fresh *pair* of
workers (`measurement`). What can go wrong, as measured (`benchmarks/speed_verdicts.py`):

- Single samples scatter upwards: preemption, caches, interrupts. The lowest third of a side's samples is steady.
- About one pair of workers in fifty is off by 20 % and more in all of its samples: it sits on bad memory, or its heap
  has an unlucky layout. No average over its samples shows that; other workers do.
- Once in a thousand verdicts the machine had a bad second, in which ratios were off by a factor of three to five, in
  one pair and in the next, and samples contradicted each other. The likely cause: to leave out too much for asking and
  answering makes of 1.0 and 1.4 ms a ratio of five.

So each pair casts one vote, and the decision is taken once the votes for one side lead by three and the median of the
pairs agrees. What asking and answering cost is the least that any pair saw. A pair votes twice if it is clear (a factor
of 1.5 and more from the limit), and three times if it is far below it (a factor of 3), provided that its samples agree,
and that even the ratio with the asking left in lies on that side. So a clearly fast answer takes one pair, a clearly
slow one two (a failing verdict is always confirmed in a fresh pair), and one that is close takes three or more.

While other things go on, a verdict that fails is *provisional*: two votes are enough, as it is thrown away, and the
whole comparison is made again when the rest is done. That of code which sleeps is not: the kernel says for how long a
process was not ready to run, however busy the machine is, and to repeat it would keep all lanes waiting.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import NamedTuple

CLEAR, FAR = math.log(1.5), math.log(3.0)
"""How far from the limit, as logarithms of ratios, a pair votes twice, and votes three times."""

_HOPELESS_SAMPLES = 2
_PROVISIONAL_HOPELESS_SAMPLES = 1  # it followed another one, which warmed up

LEAD = 3
MOST_PAIRS = 9
_LEAST_PAIRS = 2
_PROVISIONAL_LEAD = 2
_PROVISIONAL_PAIRS = 4
MOST_SAMPLES = 9
_ENOUGH = {2: math.log(5.0), 3: FAR, 5: CLEAR}
"""After so many samples of a pair, no more are taken if it is so far from the limit."""

_SAMPLES_PER_DISSENT = 4
"""Of so many samples of a pair, one may lie on the other side of the limit, and the pair is clear all the same."""

_WAITING = 3.0, 2.0
"""Sleep counts where it makes three times the CPU time, and twice the limit: loosely, as a busy machine adds to it."""

_SLEEP_S = 1.0
"""Who sleeps so long in a call sleeps as long when nothing else runs."""


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


NewPair = Callable[[], Generator[Sample, None, None]]


@dataclass(frozen=True)
class Ratio:
    """What was found.

    Attributes:
        value: the ratio of the two times.
        low: where it lies at least, by the scatter of the samples.
        high: where it lies at most.
        limit: what was asked.
        below: True if it is at most the limit, False if it is more, None if that is not decided.
        samples: how many were counted.
        pairs: in how many pairs of workers.
        mine_s: CPU seconds of one call, without the asking and answering.
        other_s: the same of the other side.
        at_least: whether the ratio is larger than `value`, as a call was stopped.
        waits: whether it is sleep that exceeds the limit, or work in other processes.
        away_s: seconds in which one call neither ran nor was ready to run, beyond those of the other side.
    """

    value: float
    low: float
    high: float
    limit: float
    below: bool | None
    samples: int
    pairs: int
    mine_s: float
    other_s: float
    at_least: bool = False
    waits: bool = False
    away_s: float = 0.0

    @property
    def sleeps(self) -> bool:
        """Whether the kernel says that it slept, for so long that this hangs on nothing else that runs."""
        return self.waits and self.away_s >= _SLEEP_S


@dataclass
class _Run:
    idle: Sides | None = None  # the CPU time of asking and answering: the least that was seen, here or in another pair
    samples: list[Sample] = field(default_factory=list)

    def cpu(self) -> float:
        """Logarithm of the ratio of CPU times, without asking and answering."""
        return _log_ratio(self.samples, self.idle or NOTHING)

    def each(self) -> list[float]:
        """The same of each sample alone."""
        return [_log_ratio([sample], self.idle or NOTHING) for sample in self.samples]

    def clearly(self, limit: float, factor: float) -> bool:
        """Whether it lies further from the limit than a factor (its logarithm), and there is no doubt on which side."""
        # Logarithms, so that twice too slow and twice too fast are equally far from the limit.
        middle = math.log(limit)
        above = self.cpu() > middle
        dissent = sum((ratio > middle) is not above for ratio in self.each())
        agreed = (
            dissent <= len(self.samples) // _SAMPLES_PER_DISSENT
            and (_log_ratio(self.samples, NOTHING) > middle) is above
        )
        return agreed and abs(self.cpu() - middle) > factor

    def waits(self, limit: float) -> bool:
        """Whether the judged side sleeps much longer than it works, beyond what the other side does too."""
        mine, other = _net(self.samples, self.idle or NOTHING)
        # A busy machine keeps both sides waiting. What the other side waits too is not held against the student.
        whole = mine + _away_s(self.samples)
        return whole > _WAITING[0] * mine and whole > _WAITING[1] * limit * other

    def vote(self, limit: float) -> int:
        """Positive for above the limit, negative for below."""
        if self.samples[-1].stopped:
            return 2
        if self.waits(limit):
            return 1
        weight = 2 if self.clearly(limit, CLEAR) else 1
        if self.cpu() > math.log(limit):
            return weight
        return -3 if self.clearly(limit, FAR) else -weight


def decide(limit: float, new_pair: NewPair, out_of_time: Callable[[], bool], *, final: bool = True) -> Ratio:
    """Compare two sides until their ratio is known to lie below or above a limit.

    Args:
        limit: of the time of the judged side, as a multiple of the other's.
        new_pair: starts a fresh pair of workers and gives its samples, warm-up left out; closed when enough were taken.
        out_of_time: whether to stop without a decision.
        final: whether what fails now has failed; else it is provisional, and found sooner.
    """
    pairs: list[_Run] = []
    lead, least, most = (LEAD, _LEAST_PAIRS, MOST_PAIRS) if final else (_PROVISIONAL_LEAD, 1, _PROVISIONAL_PAIRS)
    hopeless = _HOPELESS_SAMPLES if final else _PROVISIONAL_HOPELESS_SAMPLES
    # Time is looked at between pairs, and not before as many as decide what is clear: a slow machine delays a verdict,
    # and does not take it away. A pair that was begun is measured to its end.
    while len(pairs) < most and not (len(pairs) >= least and out_of_time()):
        pairs.append(_run(limit, new_pair, pairs[-1].idle if pairs else None, hopeless))
        for pair in pairs:
            # What asking costs is the machine's, not a pair's: the least that any saw holds for all, earlier ones too.
            pair.idle = pairs[-1].idle
        votes = sum(pair.vote(limit) for pair in pairs)
        found = _summary(limit, pairs, below=votes < 0)
        # Sleep apart, the votes must agree with the median that is told, or a message would contradict its verdict.
        enough = LEAD if found.sleeps else lead
        if (votes <= -LEAD or votes >= enough) and (found.waits or (found.value < limit) == found.below):
            return found
    return _summary(limit, pairs, below=None)


def _run(limit: float, new_pair: NewPair, idle: Sides | None, hopeless: int) -> _Run:
    """Take samples from a pair until it is clear or has enough."""
    pair = _Run(idle)
    # Samples come from a generator that holds two workers; closing it ends them, also when a check failed inside.
    with closing(new_pair()) as samples:
        for sample in samples:
            pair.samples.append(sample)
            pair.idle = sample.idle.least(pair.idle) if sample.idle else pair.idle
            if _enough(pair, limit, hopeless):
                break
    return pair


def _enough(pair: _Run, limit: float, hopeless_samples: int) -> bool:
    taken = len(pair.samples)
    # One sample that was disturbed looks hopeless, too. So each of those that would do must say the same.
    hopeless = sum(is_hopeless(sample, limit) for sample in pair.samples)
    if pair.samples[-1].stopped or hopeless >= hopeless_samples:
        return True
    least = hopeless_samples if hopeless else 1
    return taken >= MOST_SAMPLES or any(
        taken >= max(samples, least) and pair.clearly(limit, far) for samples, far in _ENOUGH.items()
    )


def _summary(limit: float, pairs: Sequence[_Run], *, below: bool | None) -> Ratio:
    ratios = sorted(pair.cpu() for pair in pairs)
    value = statistics.median(ratios)
    each = sorted(ratio for pair in pairs for ratio in pair.each())
    skip = max(0, math.floor(len(each) / 2 - math.sqrt(len(each))))  # two deviations of the median's rank
    low, high = min(each[skip], value), max(each[-1 - skip], value)
    samples = [sample for pair in pairs for sample in pair.samples]
    mine_s, other_s = _net(samples, pairs[-1].idle or NOTHING)
    stopped = any(sample.stopped for sample in samples)
    if stopped:
        value = max(ratios)  # the longest call tells most
    return Ratio(
        value=math.exp(value),
        low=math.exp(low),
        high=math.inf if stopped else math.exp(max(high, value)),
        limit=limit,
        below=below,
        samples=len(samples),
        pairs=len(pairs),
        mine_s=mine_s,
        other_s=other_s,
        at_least=value > max((pair.cpu() for pair in pairs if not pair.samples[-1].stopped), default=-math.inf),
        waits=below is False and sum(pair.waits(limit) for pair in pairs) * 2 > len(pairs),
        away_s=_away_s(samples),
    )


def _away_s(samples: Sequence[Sample]) -> float:
    """Seconds in which the judged side neither ran nor was ready to run, beyond those of the other side."""
    return _lowest([each.away.mine for each in samples]) - _lowest([each.away.other for each in samples])


def _log_ratio(samples: Sequence[Sample], idle: Sides) -> float:
    mine, other = _net(samples, idle)
    return math.log(mine / other)


def _net(samples: Sequence[Sample], idle: Sides) -> Sides:
    """The lowest CPU times, without the asking and answering; a twentieth of them at least."""
    # Subtracting can leave nothing of a very short call. A twentieth stays, so that logarithms exist and no ratio is
    # made of noise alone.
    gross = _lowest([sample.cpu.mine for sample in samples]), _lowest([sample.cpu.other for sample in samples])
    return Sides(*(max(one - less, one / 20, 1e-9) for one, less in zip(gross, idle, strict=True)))


def _lowest(values: Sequence[float]) -> float:
    """The mean of the lowest third."""
    return statistics.fmean(sorted(values)[: max(1, len(values) // 3)])
