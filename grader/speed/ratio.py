"""The decision about a ratio of two times: arithmetic on samples, no clock and no process of its own.

A *sample* is what one call of each side takes: of short ones, the mean of several. Samples come from a fresh *pair* of
workers (`measurement`). What can go wrong, as measured (`tools/speed_verdicts.py`):

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

LEAD = 3
MOST_PAIRS = 9
_PROVISIONAL = 2, 1, 4, 1
"""For a provisional verdict: the lead, the least and the most pairs, and how many hopeless samples of a pair will do.

One hopeless sample will do, since it followed another one, which warmed up.
"""
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
    """Seconds of both sides: `mine` of the side that is judged, `other` of the other one."""

    mine: float
    other: float

    def minimum(self, more: Sides | None) -> Sides:
        """Return the smaller time of each side in `self` and `more`.

        `Sides(2.0, 5.0).minimum(Sides(3.0, 4.0))` is `Sides(2.0, 4.0)`. Return `self` if `more` is None.
        """
        return self if more is None else Sides(min(self.mine, more.mine), min(self.other, more.other))


NOTHING = Sides(0.0, 0.0)


@dataclass(frozen=True)
class Sample:
    """One call of each side; where several were timed together, their mean.

    Attributes:
        cpu: CPU time.
        asleep: time in which a side neither ran nor was ready to run: it slept, or waited for others.
        idle: CPU time of a call that does nothing, or None where it was not measured anew.
        disturbed: True if it was other programs, or first use of memory, that took a good part of either time.
        stopped: True if the judged side was stopped, and so took longer than that.
        shortest_s: the CPU seconds as which a shorter call of the other side counts. The cost of asking, which is
            subtracted, is not known more exactly: of two calls of 1 us each, one looked 3 times as long as the other.
    """

    cpu: Sides
    asleep: Sides = NOTHING
    idle: Sides | None = None
    disturbed: bool = False
    stopped: bool = False
    shortest_s: float = 0.0

    def net(self) -> Sides:
        """Return the CPU time of both sides' calls, minus that of a request and its reply.

        Nothing is subtracted if the latter was not measured.
        """
        idle = self.idle or NOTHING
        return Sides(self.cpu.mine - idle.mine, self.cpu.other - idle.other)


def is_clearly_slower(sample: Sample, limit: float) -> bool:
    """Return True if one sample shows that the judged side is far too slow.

    That side was stopped, or its time is above ten times the limit.
    """
    if sample.stopped:
        return True
    idle, (mine, other) = sample.idle, sample.cpu
    return idle is not None and mine - _HOPELESS_IDLE * idle.mine > _HOPELESS * limit * other


def stop_after_s(other: float, limit: float) -> float:
    """Return the CPU seconds after which a call of the judged side is stopped.

    They are twenty times what the limit allows: 0.3 s if the other side takes 0.01 s and the limit is 1.5.

    Args:
        other: the CPU seconds of a call of the other side.
        limit: the largest ratio of the times that passes.
    """
    return 2 * _HOPELESS * limit * other


NewPair = Callable[[], Generator[Sample, None, None]]


@dataclass(frozen=True)
class Ratio:
    """The ratio that was measured, and what was decided.

    Attributes:
        value: the ratio of the two times.
        low: the smallest ratio that the scatter of the samples allows.
        high: the largest ratio that it allows.
        limit: the largest ratio that passes.
        below: True if it is at most the limit, False if it is more, None if that is not decided.
        samples: the number of samples that were counted.
        pairs: the number of pairs of workers.
        mine_s: CPU seconds of one call, without the asking and answering.
        other_s: the same of the other side.
        at_least: True if the ratio is larger than `value`, as a call was stopped.
        waits: True if it is sleep that exceeds the limit, or work in other processes.
        asleep_s: seconds in which one call neither ran nor was ready to run, beyond those of the other side.
        too_short: True if the other side takes less than `other_s`, the shortest time that can be compared.
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
    asleep_s: float = 0.0
    too_short: bool = False

    @property
    def is_slow_by_sleep(self) -> bool:
        """Return True if the judged side is too slow because it sleeps.

        It sleeps for longer than a busy machine would explain.
        """
        return self.waits and self.asleep_s >= _SLEEP_S


@dataclass
class _Pairs:
    """The samples of all pairs of workers so far, and the ratio that follows from them.

    Attributes:
        limit: the limit of the ratio.
        idle: the CPU time of asking and answering: the least that was seen. It is the machine's and not a pair's, so it
            holds for all pairs, earlier ones too. None if it is not known.
        samples: the samples of each pair.
    """

    limit: float
    idle: Sides | None = None
    samples: list[list[Sample]] = field(default_factory=list)

    def add_pair(self, new_pair: NewPair, hopeless: int) -> None:
        """Measure with a new pair of workers until its samples are enough for a vote.

        One worker runs the judged side, and the other one the side that it is compared with. The samples are kept.

        Args:
            new_pair: a function that starts a fresh pair of workers and yields their samples.
            hopeless: the number of samples with a far too slow judged side after which no more are taken.
        """
        taken: list[Sample] = []
        self.samples.append(taken)
        # Samples come from a generator that holds two workers; closing it ends them, also when a check failed inside.
        with closing(new_pair()) as samples:
            for sample in samples:
                taken.append(sample)
                self.idle = sample.idle.minimum(self.idle) if sample.idle else self.idle
                if self._are_enough(taken, hopeless):
                    break

    def _are_enough(self, taken: Sequence[Sample], hopeless_samples: int) -> bool:
        # One sample that was disturbed looks hopeless, too. So each of those that would do must say the same.
        hopeless = sum(is_clearly_slower(sample, self.limit) for sample in taken)
        if taken[-1].stopped or hopeless >= hopeless_samples or len(taken) >= MOST_SAMPLES:
            return True
        least = hopeless_samples if hopeless else 1
        return any(len(taken) >= max(count, least) and self.is_one_sided(taken, far) for count, far in _ENOUGH.items())

    def log_cpu_ratio(self, samples: Sequence[Sample]) -> float:
        """Return the logarithm of the ratio of both sides' mean CPU times, over all samples.

        If the judged side takes 2 ms and the other one 1 ms, it is log(2). A mean is that of the lowest third of the
        times, and the time for a request and its reply is subtracted.
        """
        return _log_ratio(_net_times(samples, self.idle or NOTHING))

    def is_one_sided(self, samples: Sequence[Sample], factor: float) -> bool:
        """Return True if the samples lie clearly on one side of the limit.

        At most one in four lies on the other side, and their ratio is far from the limit: with the factor log(1.5) and
        the limit 2, above 3 or below 1.33.

        Args:
            samples: the samples of a pair of workers.
            factor: the logarithm of the factor that must lie between the ratio and the limit.
        """
        # Logarithms, so that twice too slow and twice too fast are equally far from the limit.
        middle = math.log(self.limit)
        above = self.log_cpu_ratio(samples) > middle
        dissent = sum((self.log_cpu_ratio([sample]) > middle) is not above for sample in samples)
        with_asking = _log_ratio(_net_times(samples, NOTHING)) > middle
        agreed = dissent <= len(samples) // _SAMPLES_PER_DISSENT and with_asking is above
        return agreed and abs(self.log_cpu_ratio(samples) - middle) > factor

    def mostly_sleeps(self, samples: Sequence[Sample]) -> bool:
        """Return whether the judged side is too slow because it sleeps, as by `time.sleep`.

        With its sleep, it takes more than 3 times its CPU time, and more than twice what the limit allows. Sleep counts
        only as far as it is longer than that of the other side, as a busy machine makes both sides wait.

        Args:
            samples: the measurements with one pair of workers.
        """
        mine, other = _net_times(samples, self.idle or NOTHING)
        # A busy machine keeps both sides waiting. What the other side waits too is not held against the student.
        whole = mine + _asleep_s(samples)
        return whole > _WAITING[0] * mine and whole > _WAITING[1] * self.limit * other

    def vote_of_pair(self, samples: Sequence[Sample]) -> int:
        """Return how one pair of workers votes: above 0 if the judged side is too slow.

        A number below 0 votes for fast enough; `decide` adds the numbers of all pairs. For the limit 2, the result is 1
        for a ratio of 2.4, 2 for 3.5, -1 for 1.8, -2 for 1.2 and -3 for 0.5. For more than 1 or less than -1, at least
        three of four samples must lie on that side of the limit. The result is 2 if the judged side was stopped, and 1
        if it is too slow because it sleeps.

        Args:
            samples: the measurements with this pair of workers.
        """
        if samples[-1].stopped:
            return 2
        if self.mostly_sleeps(samples):
            return 1
        weight = 2 if self.is_one_sided(samples, CLEAR) else 1
        if self.log_cpu_ratio(samples) > math.log(self.limit):
            return weight
        return -3 if self.is_one_sided(samples, FAR) else -weight

    def summary(self, *, below: bool | None) -> Ratio:
        """Return the measured `Ratio` with a decision.

        Args:
            below: the decision: True if the ratio is below the limit, False if above, None if undecided.
        """
        ratios = [self.log_cpu_ratio(samples) for samples in self.samples]
        value = statistics.median(ratios)
        samples = [sample for each in self.samples for sample in each]
        each = sorted(self.log_cpu_ratio([sample]) for sample in samples)
        skip = max(0, math.floor(len(each) / 2 - math.sqrt(len(each))))  # two deviations of the median's rank
        low, high = min(each[skip], value), max(each[-1 - skip], value)
        mine_s, other_s = _net_times(samples, self.idle or NOTHING)
        stopped = any(sample.stopped for sample in samples)
        if stopped:
            value = max(ratios)  # the longest call is the most exact
        finished = [ratio for ratio, each in zip(ratios, self.samples, strict=True) if not each[-1].stopped]
        return Ratio(
            value=math.exp(value),
            low=math.exp(low),
            high=math.inf if stopped else math.exp(max(high, value)),
            limit=self.limit,
            below=below,
            samples=len(samples),
            pairs=len(self.samples),
            mine_s=mine_s,
            other_s=other_s,
            at_least=value > max(finished, default=-math.inf),
            waits=below is False and 2 * sum(map(self.mostly_sleeps, self.samples)) > len(self.samples),
            asleep_s=_asleep_s(samples),
            too_short=other_s in (sample.shortest_s for sample in samples),
        )


def decide(limit: float, new_pair: NewPair, out_of_time: Callable[[], bool], *, final: bool = True) -> Ratio:
    """Measure two pieces of code until it is clear if the first is too slow, or time is over.

    An example is a student's function that may take at most 3 times as long as the reference's.

    Args:
        limit: the most time that the judged side may take, as a multiple of the other's, such as 3.0.
        new_pair: a function that starts a fresh pair of workers and yields their samples, without warm-up.
        out_of_time: a function that returns whether to stop without a decision.
        final: True if a failing ratio is final; if not, fewer pairs are enough, and the caller compares again later.
    """
    pairs = _Pairs(limit)
    lead, least, most, hopeless = (LEAD, 2, MOST_PAIRS, 2) if final else _PROVISIONAL
    # Time is looked at between pairs, and not before as many as decide what is clear: a slow machine delays a verdict,
    # and does not take it away. A pair that was begun is measured to its end.
    while len(pairs.samples) < most and not (len(pairs.samples) >= least and out_of_time()):
        pairs.add_pair(new_pair, hopeless)
        votes = sum(map(pairs.vote_of_pair, pairs.samples))
        ratio = pairs.summary(below=votes < 0)
        # Sleep apart, the votes must agree with the reported median, or a message would contradict its verdict.
        enough = LEAD if ratio.is_slow_by_sleep else lead
        if (votes <= -LEAD or votes >= enough) and (ratio.waits or (ratio.value < limit) == ratio.below):
            return ratio
    return pairs.summary(below=None)


def _asleep_s(samples: Sequence[Sample]) -> float:
    """Return the seconds per call that the judged side slept longer than the other side.

    A side sleeps while it neither runs nor is ready to run.
    """
    return _mean_of_lowest_third([each.asleep.mine for each in samples]) - _mean_of_lowest_third(
        [each.asleep.other for each in samples]
    )


def _log_ratio(times: Sides) -> float:
    return math.log(times.mine / times.other)


def _net_times(samples: Sequence[Sample], idle: Sides) -> Sides:
    """Return the mean CPU time of each side, minus that of a request and its reply.

    A mean is that of the lowest third of the times.
    """
    # Subtracting can leave nothing of a very short call. A twentieth stays, so that logarithms exist and no ratio is
    # made of noise alone.
    gross = (
        _mean_of_lowest_third([sample.cpu.mine for sample in samples]),
        _mean_of_lowest_third([sample.cpu.other for sample in samples]),
    )
    mine, other = (max(one - less, one / 20, 1e-9) for one, less in zip(gross, idle, strict=True))
    return Sides(mine, max(other, *(sample.shortest_s for sample in samples)))


def _mean_of_lowest_third(values: Sequence[float]) -> float:
    """Return the mean of the lowest third of the values."""
    return statistics.fmean(sorted(values)[: max(1, len(values) // 3)])
