"""One comparison of two functions by CPU time, in as many pairs of fresh workers as it takes.

Both sides run in equal workers with one thread (`paired_run`), under a clock of ours (`timing`); `ratio` decides. Here
stands what a pair is asked for: a small call first, then the size and the number of calls that the clock needs, then
samples that count. A sample that was disturbed is taken again, a few times at most: a machine that is never quiet gets
a verdict too.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

from grader.connection.paired_run import ONE, Budget, Calls, Comparison, PairedRun
from grader.connection.ratio import Ratio, decide
from grader.connection.samples import Sample, is_hopeless

_BUDGET_S = 20.0
_PROVISIONAL_S = 6.0
"""Wall seconds after which no further pair of workers is begun; see `Budget` for what is left out."""

_LEAST_S = 0.0004
"""What is compared takes at least this much CPU time, at the limit; the input is enlarged until it does."""

_MOST_DOUBLINGS = 5
_IDLE_SAMPLES = 2
_MOST_REPEATED = 4


@dataclass
class Measurement:
    """One comparison, in as many pairs of workers as it takes.

    Attributes:
        comparison: what is compared.
        size: for the inputs; doubled where the other is too fast for the clock. A tenth of it is the warm-up.
        final: whether what fails now has failed; else it is provisional, and all of this is done again later.
        sized: whether `size` and `calls` are found.
        calls: how many of each side make a sample in full size.
        cpu_clock: whether CPU time could be read; without, nothing is decided.
        budget: of the time for all of it.
    """

    comparison: Comparison
    size: int
    final: bool = True
    sized: bool = False
    calls: Calls = ONE
    cpu_clock: bool = True
    budget: Budget = field(init=False)

    def __post_init__(self) -> None:
        self.budget = Budget(_BUDGET_S if self.final else _PROVISIONAL_S)

    def decide(self) -> Ratio:
        """Take samples until the ratio is known, or the time is over."""
        return decide(
            self.comparison.limit, self._samples, lambda: self.budget.is_over() or not self.cpu_clock, final=self.final
        )

    def _samples(self) -> Generator[Sample, None, None]:
        """Samples from a fresh pair of workers. Warm-up samples are left out, except where one is hopeless already."""
        limit = self.comparison.limit
        with PairedRun(self.comparison, self.budget) as pair:
            self.cpu_clock = pair.have_cpu_clock()
            # The first call in a process imports late, fills caches and grows the heap. It is small, so that a loop
            # that takes minutes at full size is found out here; but not by the first, which looks slower than it is.
            small = max(1, self.size // 10)
            sample = pair.sample(small)
            if is_hopeless(sample, limit) and not sample.stopped:
                sample = pair.sample(small)
            while is_hopeless(sample, limit):
                yield sample
                if sample.stopped:
                    return
                sample = pair.sample(small)
            # From here on the other side's time is known, and with it when waiting longer cannot change the verdict.
            pair.stops = True
            # Later pairs keep what the first one found, so that all samples measure the same work. The last sample of
            # these warms up as well and is not counted, except where the call was stopped: there will be no other.
            sample = pair.sample(self.size, self.calls) if self.sized else self._sized(pair)
            if sample.stopped:
                yield sample
                return
            yield from self._counted(pair)

    def _counted(self, pair: PairedRun) -> Generator[Sample, None, None]:
        """Samples in full size, without those that were disturbed, as far as others can be had."""
        taken = repeated = 0
        while True:
            sample = pair.sample(self.size, self.calls, idle=taken < _IDLE_SAMPLES)
            if sample.disturbed and not sample.stopped and repeated < _MOST_REPEATED:
                repeated += 1
                continue
            taken += 1
            yield sample
            if sample.stopped:
                return

    def _sized(self, pair: PairedRun) -> Sample:
        """Warm up in full size, which is found here: large enough for the clock."""
        for _ in range(_MOST_DOUBLINGS):
            sample = pair.sample(self.size)
            if sample.stopped or min(1.0, self.comparison.limit) * sample.net().other >= _LEAST_S:
                break
            self.size *= 2
        self.sized = True
        if sample.stopped:
            return sample
        # By the less of two samples, as what was disturbed looks longer than it is, and long enough for one call.
        again = pair.sample(self.size)
        if again.stopped:
            return again
        self.calls = pair.calls_for(sample.least(again), ONE)
        return again if self.calls == ONE else pair.sample(self.size, self.calls)
