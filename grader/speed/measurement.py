"""One comparison of two functions by CPU time, in as many pairs of fresh workers as it takes.

Both run in equal workers with one thread, under a clock of ours (`timing`), in turns and on the same new inputs;
`ratio` decides. A pair of workers makes a small call first, then finds the size and the number of calls that the clock
needs, then takes samples that count. A sample that was disturbed is taken again, a few times at most: a machine that is
never quiet gets a verdict too.

A side whose calls are short makes several in a sample, each on inputs of its own, so that a sample measures some
milliseconds of its work: else one cold cache would be the longest part of it. The side whose calls are longer makes
fewer, on some of the same inputs, and those results are compared. Which inputs these are is drawn by us, so that
whoever makes up a part of the results is found out.

A sample that other programs or the first use of memory dominated is recognized by what the system reports about the
workers: how often each was put off its core, and how many pages it met that were not there. Of the latter, the fewest
that any of its samples had are the function's own.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple

from grader.connection.connection import Proxy, connection_of
from grader.model import Verdict
from grader.model.endings import WorkerLost
from grader.speed.ratio import Ratio, Sample, Sides, decide, is_clearly_slower, stop_after_s
from grader.speed.timing import Inputs, TimedWorker, Timing
from grader.wire.call import copy_values

_BUDGET_S = 20.0
_PROVISIONAL_S = 6.0
"""Wall seconds after which no further pair of workers is begun; what does not count: `Measurement.left_out_s`."""

_LEAST_S = 0.0004
"""What is compared takes at least this much CPU time, at the limit; the input is enlarged until it does."""

_MOST_DOUBLINGS = 5
_IDLE_SAMPLES = 2
_MOST_REPEATED = 4

_SAMPLE_S = 0.002
"""A sample makes so many calls of a side that they take about this much CPU time, beyond asking and answering."""

_MOST_CALLS = 32
"""More would not help the shortest, and each of them costs us more than a short call itself, to make and compare."""

_MOST_WEIGHT = 8 << 20
"""What is sent to a worker or comes from it at once, in bytes; one call alone may be more."""

_MOST_ASLEEP_S = 0.1
"""A function that sleeps is not called more often than sleeps for so long, as to find out takes no more."""

_PREEMPTION_S, _FAULT_S = 2e-4, 1e-6
"""The cost of a preemption, after which caches are cold, and of a page fault, roughly."""

_DOMINATED = 0.25
"""A sample is disturbed where preemptions and faults cost more than this share of either side's time."""

_SHORTEST_STOP_S = 0.5

NewInputs = Callable[[int], tuple[Any, ...]]


class Calls(NamedTuple):
    """The numbers of calls of each side that are timed together in a sample."""

    mine: int
    other: int


ONE = Calls(1, 1)


@dataclass
class Measurement:
    """One comparison, in as many pairs of workers as it takes.

    Attributes:
        function: the one that is judged.
        other: the one that it is compared with.
        inputs: a function of a size that makes new arguments.
        limit: the largest ratio of the times that passes.
        same_results: raises where two results of a sample differ.
        size: the size for `inputs`; doubled where the other is too fast for the clock. A tenth is the warm-up.
        in_place: True if the arguments are compared afterwards, too.
        final: True if what fails now has failed; else it is provisional, and all of this is done again later.
        calls: the number of calls of each side that make a sample in full size; None until that and the size are known.
        cpu_clock: True if CPU time could be read; without, nothing is decided.
        left_out_s: seconds that do not count as time of this comparison. A module that sleeps while it loads, or a
            function that sleeps, would otherwise choose that nothing is decided.
    """

    function: Proxy
    other: Proxy
    inputs: NewInputs
    limit: float
    same_results: Callable[[Any, Any], None]
    size: int
    in_place: bool = False
    final: bool = True
    calls: Calls | None = None
    cpu_clock: bool = True
    left_out_s: float = 0.0

    def __post_init__(self) -> None:
        self._until = time.monotonic() + (_BUDGET_S if self.final else _PROVISIONAL_S)

    @property
    def without_torch(self) -> bool:
        """Return True if the workers can import the standard library alone."""
        return bool(connection_of(self.function).without)

    def decide(self) -> Ratio:
        """Take samples until the ratio is known or the time is over, and return the ratio."""
        return decide(self.limit, self._samples, self.is_over, final=self.final)

    def is_over(self) -> bool:
        """Return whether no further pair of workers may be started."""
        return not self.cpu_clock or time.monotonic() - self.left_out_s > self._until

    def _samples(self) -> Generator[Sample, None, None]:
        """Time both functions in a fresh pair of workers, and yield the samples that count.

        A sample of the warm-up is yielded only if it is far too slow, or if the judged side was stopped. `decide`
        closes the generator after a sample in which the judged side was stopped.
        """
        with closing(PairedRun(self)) as pair:
            self.cpu_clock = pair.can_read_cpu_time()
            # The first call in a process imports late, fills caches and grows the heap. It is small, so that a loop
            # that takes minutes at full size is found out here; but not by the first, which looks slower than it is.
            small = max(1, self.size // 10)
            sample = pair.sample(small)
            if is_clearly_slower(sample, self.limit) and not sample.stopped:
                sample = pair.sample(small)
            while is_clearly_slower(sample, self.limit):
                yield sample
                sample = pair.sample(small)
            # From here on the other side's time is known, and with it when waiting longer cannot change the verdict.
            pair.stops = True
            # Later pairs keep what the first one found, so that all samples measure the same work. The last sample of
            # these warms up as well and is not counted, except where the call was stopped: there will be no other.
            sample = pair.sample(self.size, self.calls) if self.calls else self._find_size(pair)
            if sample.stopped:
                yield sample
            # Samples in full size, without those that were disturbed, as far as others can be had.
            taken = repeated = 0
            while True:
                sample = pair.sample(self.size, self.calls or ONE, idle=taken < _IDLE_SAMPLES)
                if sample.disturbed and not sample.stopped and repeated < _MOST_REPEATED:
                    repeated += 1
                else:
                    taken += 1
                    yield sample

    def _find_size(self, pair: PairedRun) -> Sample:
        """Find a size of inputs that is large enough for the clock.

        Store the size and the number of calls in a sample; return a warm-up sample of them.
        """
        for _ in range(_MOST_DOUBLINGS):
            first = pair.sample(self.size)
            if first.stopped or min(1.0, self.limit) * first.net().other >= _LEAST_S:
                break
            self.size *= 2
        self.calls = ONE
        if first.stopped or (second := pair.sample(self.size)).stopped:
            return first if first.stopped else second
        self.calls = pair.calls_for(first, second)
        return second if self.calls == ONE else pair.sample(self.size, self.calls)


class PairedRun:
    """Both sides of a measurement, the judged function and the other one, in fresh workers. Close it.

    Attributes:
        stops: True if a call of the judged side that is hopeless is stopped early.
    """

    def __init__(self, measurement: Measurement) -> None:
        self._measurement = measurement
        self._mine, self._other = TimedWorker(measurement.function), TimedWorker(measurement.other)
        self._call_s = self._mine.connection.limits.call_s
        self._turn = 0
        self._other_s = 0.0
        self._weight = 0
        self._own_faults: dict[tuple[str, int, int], int] = {}
        self.stops = False

    def close(self) -> None:
        """End both workers."""
        self._mine.close()
        self._other.close()

    def can_read_cpu_time(self) -> bool:
        """Return whether the CPU time of both workers can be read.

        If it cannot, times are those of the wall clock.
        """
        return all(side.connection.live_worker().cpu_s() is not None for side in (self._mine, self._other))

    def sample(self, size: int, calls: Calls = ONE, *, idle: bool = True) -> Sample:
        """Time both functions with the same new arguments, and compare their results.

        The judged function and the other one take turns to be first.

        Args:
            size: the size of the inputs that are made.
            calls: the number of calls of each function.
            idle: True if calls that do nothing are measured, too.

        Raises:
            CheckFailed: the results differ.
        """
        args = [self._measurement.inputs(size) for _ in range(max(calls))]
        if len(args) > 1:  # a check may give one tensor for several calls; what one writes into it, no other may see
            args = [copy_values(*each) for each in args]
        # The side that makes fewer calls gets some of the arguments, drawn at random.
        picked = [sorted(random.SystemRandom().sample(range(len(args)), count)) for count in calls]
        in_place = self._measurement.in_place
        without_torch = self._measurement.without_torch
        sides = ([args[place] for place in places] for places in picked)
        mine_in, other_in = (Inputs(*side, in_place=in_place, without_torch=without_torch) for side in sides)
        self._turn += 1
        # In turns, so that neither side always finds the caches as the other left them.
        theirs = self._call_other(other_in) if self._turn % 2 else None
        stop_s = self._stop_s(calls.mine)
        mine = self._call_judged(mine_in, stop_s)
        theirs = theirs or self._call_other(other_in)
        # While one side was called, the other could go on working after its reply. That counts for it.
        self._mine.add_late_work()
        self._other.add_late_work()
        self._other_s = theirs.cpu_s / calls.other
        if mine is None:
            slept = Sides(self._mine.slept_s / calls.mine, theirs.asleep_s / calls.other)
            return Sample(Sides(stop_s / calls.mine, self._other_s), slept, stopped=True)
        # Every sample: an answer that is right in the first call and made up in later ones is fast, too.
        results = dict(zip(picked[0], mine.results, strict=True))
        for place, result in zip(picked[1], theirs.results, strict=True):
            if place in results:
                self._measurement.same_results(results[place], result)
        self._weight = max(mine_in.weight // calls.mine, mine.weight // calls.mine, theirs.weight // calls.other)
        works = (mine, ("mine", size, calls.mine)), (theirs, ("other", size, calls.other))
        disturbed = [self._is_disturbed(*work) for work in works]  # of both: each notes its own faults
        cpu = Sides(mine.cpu_s / calls.mine, self._other_s)
        asleep = Sides(mine.asleep_s / calls.mine, theirs.asleep_s / calls.other)
        idle_s = self._time_idle_calls(args, theirs.results, calls) if idle else None
        # Enlarging has its end. What is too short even so is not judged more finely than the clock can; a small input
        # is only looked at for what is hopeless.
        least_s = _LEAST_S / min(1.0, self._measurement.limit)
        shortest_s = least_s / calls.other if size == self._measurement.size else 0.0
        return Sample(cpu, asleep, idle_s, disturbed=any(disturbed), shortest_s=shortest_s)

    def calls_for(self, first: Sample, second: Sample) -> Calls:
        """Return how many calls of each side make a sample long enough.

        The number is estimated from two samples of one call.
        """
        # By the less of the two, as what was disturbed looks longer than it is, and long enough for one call.
        mine, other = first.net().minimum(second.net())
        most = max(1, min(_MOST_CALLS, _MOST_WEIGHT // max(1, self._weight)))
        # Stopped is what takes much longer than the limit, and the limit of one call holds for all of them together.
        stop_s = stop_after_s(min(first.cpu.other, second.cpu.other), self._measurement.limit)
        most_mine = min(most, self._call_s / max(stop_s, 1e-9))
        most_mine = min(most_mine, _MOST_ASLEEP_S / max(min(first.asleep.mine, second.asleep.mine), 1e-9))
        return Calls(_calls_in_sample(mine, most_mine), _calls_in_sample(other, most))

    def _is_disturbed(self, timing: Timing, work: tuple[str, int, int]) -> bool:
        """Return whether disturbances took a large share of the CPU time.

        Preemptions are disturbances, and so are page faults beyond the function's own.

        Args:
            timing: the time of the calls, with what disturbed them.
            work: the side, the size and the number of the calls; among samples with equal `work`, the fewest faults
                are the function's own.
        """
        seen = timing.disturbances
        if seen is None:
            return False
        own = self._own_faults[work] = min(seen.faults, self._own_faults.get(work, seen.faults))
        return _PREEMPTION_S * seen.preemptions + _FAULT_S * (seen.faults - own) > _DOMINATED * timing.cpu_s

    def _time_idle_calls(self, args: Sequence[tuple[Any, ...]], results: Sequence[Any], calls: Calls) -> Sides:
        """Return the CPU seconds of a call that does nothing, for each side.

        The call takes the arguments and returns the results of the calls that are compared.
        """
        idle_s = []
        # Such calls take the same arguments and give back the same results, which are sent along. What comes from the
        # judged side is not sent on: it may be anything.
        for count in dict.fromkeys(calls):
            both = [(*args[place], results[place % len(results)]) for place in range(count)]
            inputs = Inputs(*both, in_place=self._measurement.in_place, without_torch=self._measurement.without_torch)
            idle_s.append(self._call_other(inputs, idle=True).cpu_s / count)
            self._other.add_late_work()
        return Sides(idle_s[0], idle_s[-1])

    def _stop_s(self, calls: int) -> float:
        """Return the CPU seconds after which the judged side is stopped in a sample of `calls` calls."""
        if not self.stops:
            return self._call_s
        hopeless = calls * stop_after_s(self._other_s, self._measurement.limit)
        return min(self._call_s, max(_SHORTEST_STOP_S, hopeless))

    def _call_judged(self, inputs: Inputs, seconds: float) -> Timing | None:
        """Time calls of the judged side, or return None if they were stopped.

        They are stopped after `seconds`.
        """
        before = self._mine.left_out_s
        try:
            return self._mine.call(inputs, seconds)
        except WorkerLost as lost:
            # A submission that does not load in time has not been timed: that is a loss like any other.
            if lost.verdict is Verdict.TIMED_OUT and not lost.in_load:
                return None
            raise
        finally:
            self._measurement.left_out_s += self._mine.left_out_s - before

    def _call_other(self, inputs: Inputs, *, idle: bool = False) -> Timing:
        try:
            return self._other.call(inputs, idle=idle)
        # Not the student's fault: the check is broken, and no points are lost for our own solution.
        except WorkerLost as lost:
            raise RuntimeError(f"the other side of a comparison was lost: {lost.message}") from None


def _calls_in_sample(each: float, most: float) -> int:
    """Return how many calls make a sample long enough to measure.

    For calls of 0.3 ms these are 8, which take about 2 ms. The number is a power of two, or `most` if that is less.

    Args:
        each: the CPU seconds of one call.
        most: the largest number of calls that may be returned.
    """
    # A power of two: to learn that it is 37 calls and not 35 is not worth another sample.
    wanted = 1 << max(0, math.ceil(math.log2(_SAMPLE_S / max(each, _SAMPLE_S / _MOST_CALLS))))
    return max(1, min(wanted, math.floor(most)))
