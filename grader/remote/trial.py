"""One comparison of two functions by CPU time, in as many pairs of fresh workers as it takes.

Both sides run in equal workers with one thread (`pair`), under a clock of ours (`timing`); `ratio` decides. Here stands
what a pair is asked for: a small call first, then the size and the number of calls that the clock needs, then laps that
count. A lap that was disturbed is taken again, a few times at most: a machine that is never quiet gets a verdict too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from grader.remote.budget import Budget
from grader.remote.laps import Lap, is_hopeless
from grader.remote.pair import ONE, Calls, Comparison, Pair
from grader.remote.ratio import Ratio, decide

_BUDGET_S = 20.0
_PROVISIONAL_S = 6.0
"""Wall seconds after which no further pair of workers is begun; see `Budget` for what is left out."""

_LEAST_S = 0.0004
"""What is compared takes at least this much CPU time, at the limit; the input is enlarged until it does."""

_MOST_DOUBLINGS = 5
_IDLE_LAPS = 2
_MOST_REPEATED = 4


@dataclass
class Trial:
    """One comparison, in as many pairs of workers as it takes.

    Attributes:
        comparison: what is compared.
        size: for the inputs; doubled where the other is too fast for the clock. A tenth of it is the warm-up.
        final: whether what fails now has failed; else it is provisional, and all of this is done again later.
        sized: whether `size` and `calls` are found.
        calls: how many of each side make a lap in full size.
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
        """Take laps until the ratio is known, or the time is over."""
        return decide(
            self.comparison.limit,
            self._laps,
            lambda: self.budget.is_over() or not self.cpu_clock,
            final=self.final,
        )

    def _laps(self) -> Iterator[Lap]:
        """Laps from a fresh pair of workers. Warm-up laps are left out, except where one is hopeless already."""
        limit = self.comparison.limit
        with Pair(self.comparison, self.budget) as pair:
            self.cpu_clock = pair.have_cpu_clock()
            # The first call in a process imports late, fills caches and grows the heap. It is small, so that a loop
            # that takes minutes at full size is found out here; but not by the first, which looks slower than it is.
            small = max(1, self.size // 10)
            lap = pair.lap(small)
            if is_hopeless(lap, limit) and not lap.stopped:
                lap = pair.lap(small)
            while is_hopeless(lap, limit):
                yield lap
                if lap.stopped:
                    return
                lap = pair.lap(small)
            # From here on the other side's time is known, and with it when waiting longer cannot change the verdict.
            pair.stops = True
            # Later pairs keep what the first one found, so that all laps measure the same work. The last lap of these
            # warms up as well and is not counted, except where the call was stopped: there will be no other.
            lap = pair.lap(self.size, self.calls) if self.sized else self._sized(pair)
            if lap.stopped:
                yield lap
                return
            yield from self._counted(pair)

    def _counted(self, pair: Pair) -> Iterator[Lap]:
        """Laps in full size, without those that were disturbed, as far as others can be had."""
        taken = repeated = 0
        while True:
            lap = pair.lap(self.size, self.calls, idle=taken < _IDLE_LAPS)
            if lap.disturbed and not lap.stopped and repeated < _MOST_REPEATED:
                repeated += 1
                continue
            taken += 1
            yield lap
            if lap.stopped:
                return

    def _sized(self, pair: Pair) -> Lap:
        """Warm up in full size, which is found here: large enough for the clock."""
        for _ in range(_MOST_DOUBLINGS):
            lap = pair.lap(self.size)
            if lap.stopped or min(1.0, self.comparison.limit) * lap.other_net() >= _LEAST_S:
                break
            self.size *= 2
        self.sized = True
        if lap.stopped:
            return lap
        # By the less of two laps, as what was disturbed looks longer than it is, and long enough for one call.
        again = pair.lap(self.size)
        if again.stopped:
            return again
        self.calls = pair.calls_for(lap.least(again), ONE)
        return again if self.calls == ONE else pair.lap(self.size, self.calls)
