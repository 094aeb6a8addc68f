"""The decision about a ratio, on made-up samples."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Generator

import pytest

from grader.speed.ratio import MOST_PAIRS, MOST_SAMPLES, NOTHING, Ratio, Sample, Sides, decide

NewPair = Callable[[], Generator[Sample, None, None]]


def never() -> bool:
    return False


def steady(ratio: float, *, other: float = 0.001, idle: float = 0.0002, scatter: float = 0.0) -> NewPair:
    """Pairs with a true ratio, to which asking and answering is added; scatter goes upwards, as it does."""
    chance = random.Random(1)

    def samples() -> Generator[Sample, None, None]:
        while True:
            mine, theirs, nothing = (
                (time + idle) * (1 + scatter * chance.expovariate(1.0)) for time in (ratio * other, other, 0.0)
            )
            yield Sample(Sides(mine, theirs), idle=Sides(nothing, nothing))

    return samples


def taking_turns(*pairs: NewPair) -> NewPair:
    """One kind of pair after another, the last one for ever."""
    kinds = itertools.chain(pairs, itertools.repeat(pairs[-1]))
    return lambda: next(kinds)()


def test_asking_and_answering_is_left_out() -> None:
    """The ratio is that of the work alone, without what every call costs."""
    found = decide(2.0, steady(1.6, other=0.0005, idle=0.0005), never)
    assert found.value == pytest.approx(1.6)
    assert [found.mine_s, found.other_s] == pytest.approx([0.0008, 0.0005])


@pytest.mark.parametrize(
    ("ratio", "below", "pairs", "pairs_under_way"),
    [
        (0.5, True, 1, 1),
        (1.2, True, 2, 2),
        (1.8, True, 3, 3),
        (2.2, False, 3, 2),
        (3.5, False, 2, 1),
        (15.0, False, 2, 1),
        (1000.0, False, 2, 1),
    ],
)
def test_a_verdict_takes_as_many_pairs_as_it_needs(ratio: float, below: bool, pairs: int, pairs_under_way: int) -> None:
    """One where it is far below the limit, and never one where it fails; fewer under way, if it is confirmed later."""
    found = decide(2.0, steady(ratio), never)
    assert (found.below, found.pairs) == (below, pairs)
    found = decide(2.0, steady(ratio), never, final=False)
    assert (found.below, found.pairs) == (below, pairs_under_way)


def test_hopeless_pairs_are_short() -> None:
    """Ten times the limit is seen in two samples; a clear ratio takes three to five, and a close one nine."""
    assert decide(2.0, steady(50.0), never).samples == 2 * 2
    assert decide(2.0, steady(50.0), never, final=False).samples == 1
    assert decide(2.0, steady(3.5), never).samples == 2 * 5
    assert decide(2.0, steady(1.9), never).samples == 3 * MOST_SAMPLES
    assert decide(2.0, steady(0.1), never).samples == 2


@pytest.mark.parametrize("ratio", [0.5, 1.5, 2.5, 4.0])
def test_odd_pairs_are_outvoted(ratio: float) -> None:
    """A pair of workers that sits on bad memory decides nothing, in whatever direction it errs."""
    below = ratio < 2.0
    for odd in (ratio * 1.6, ratio / 1.6):
        found = decide(2.0, taking_turns(steady(odd), steady(ratio)), never)
        assert found.below is below


@pytest.mark.parametrize(("ratio", "below"), [(1.5, True), (4.0, False), (0.5, True)])
def test_a_bad_second_is_outvoted(ratio: float, below: bool) -> None:
    """Two pairs in a row whose clocks err by a factor of three, now on one side, now on the other, decide nothing."""

    def bad(mine: float, other: float) -> NewPair:
        def samples() -> Generator[Sample, None, None]:
            for number in itertools.count():
                theirs = 0.001 * (other if number % 2 else 1.0)
                yield Sample(Sides(ratio * 0.001 * mine, theirs), idle=NOTHING)

        return samples

    for error in (bad(3.0, 6.0), bad(1.0, 5.0)):
        found = decide(2.0, taking_turns(error, error, steady(ratio)), never)
        assert found.below is below, found


def test_too_much_left_out_decides_nothing() -> None:
    """Where a call that does nothing took too long in the first pairs, a true ratio of 1.4 is not taken for five."""

    def bad() -> Generator[Sample, None, None]:
        while True:
            yield Sample(Sides(0.0014, 0.001), idle=Sides(0.0009, 0.0009))

    found = decide(2.0, taking_turns(bad, bad, steady(1.4)), never)
    assert found.below is True
    assert found.value < 2.0
    found = decide(2.0, taking_turns(steady(1.4), bad), never)
    assert (found.below, found.pairs) == (True, 3)


def test_asking_costs_either_side_its_own() -> None:
    """Where the sides make different numbers of calls, so much of it is left out as each of them had."""

    def samples() -> Generator[Sample, None, None]:
        while True:
            yield Sample(Sides(0.0003, 0.0104), idle=Sides(0.0002, 0.0004))

    found = decide(0.1, samples, never)
    assert found.value == pytest.approx(0.01)
    assert [found.mine_s, found.other_s] == pytest.approx([0.0001, 0.01])


@pytest.mark.parametrize(("mine", "below"), [(1e-6, True), (20e-6, True), (100e-6, False)])
def test_what_is_too_short_for_the_clock_counts_as_long_as_it_needs(mine: float, below: bool) -> None:
    """Asking for a call costs 20 times the call, and a little more on one side: equal functions stay equal."""

    def samples() -> Generator[Sample, None, None]:
        while True:
            yield Sample(Sides(mine + 23e-6, 21e-6), idle=Sides(20e-6, 20e-6), shortest_s=12.5e-6)

    found = decide(3.0, samples, never)
    assert (found.below, found.other_s, found.too_short) == (below, 12.5e-6, True)


def test_one_disturbed_sample_is_not_hopeless() -> None:
    """A sample in which a short call took a hundred times as long ends no pair early, and is left out."""

    def samples() -> Generator[Sample, None, None]:
        yield Sample(Sides(0.1, 0.001), idle=NOTHING)
        while True:
            yield Sample(Sides(0.0019, 0.001), idle=NOTHING)

    found = decide(2.0, samples, never)
    assert (found.below, found.samples) == (True, 3 * MOST_SAMPLES)
    assert found.value == pytest.approx(1.9)


def test_what_is_uncertain_is_not_decided() -> None:
    """Pairs that contradict each other end without a verdict, soon under way; so does a budget that is used up."""
    for final, pairs in ((True, MOST_PAIRS), (False, 4)):
        torn = taking_turns(*[steady(1.5), steady(2.5)] * MOST_PAIRS)
        found = decide(2.0, torn, never, final=final)
        assert (found.below, found.pairs) == (None, pairs)
        assert found.low < 2.0 < found.high
    found = decide(2.0, steady(1.9), lambda: True)
    assert (found.below, found.pairs) == (None, 2)
    # Where a single pair used up all the time, a second one is taken, and is enough for what is clear.
    for ratio, below in ((0.5, True), (1.2, True), (3.5, False), (50.0, False)):
        assert decide(2.0, steady(ratio), lambda: True).below is below


def test_a_stopped_call_is_a_lower_bound() -> None:
    """A call that was stopped says `more than`, and is confirmed too."""

    def samples() -> Generator[Sample, None, None]:
        yield Sample(Sides(0.5, 0.001), stopped=True)

    found = decide(3.5, samples, never)
    assert (found.below, found.pairs, found.at_least) == (False, 2, True)
    assert found.value == pytest.approx(500)
    mixed = decide(3.5, taking_turns(steady(1500.0), samples), never)
    assert (mixed.below, mixed.at_least) == (False, False)
    assert mixed.value == pytest.approx(1500)


def sleeping(cpu: float, asleep: float, other: float = 0.0) -> NewPair:
    """Pairs in which the judged side uses some CPU time, and is away for some more."""

    def samples() -> Generator[Sample, None, None]:
        while True:
            yield Sample(Sides(cpu * 0.001, 0.001), Sides(asleep * 0.001, other * 0.001), NOTHING)

    return samples


def test_a_busy_machine_is_not_taken_for_sleep() -> None:
    """Sleep fails by votes; to be away a little, or as long as the other side, or in a single pair, fails nobody."""
    found = decide(2.0, sleeping(0.5, 10.0), never)
    assert (found.below, found.waits, found.pairs) == (False, True, 3)
    assert decide(2.0, sleeping(0.5, 3.0), never).below is True
    assert decide(2.0, sleeping(0.5, 10.0, other=9.0), never).below is True
    assert decide(2.0, taking_turns(sleeping(0.5, 10.0), steady(0.5)), never).below is True


def stopped_asleep() -> Generator[Sample, None, None]:
    yield Sample(Sides(0.5, 0.001), Sides(2.0, 0.0), stopped=True)


@pytest.mark.parametrize(
    ("pair", "sleeps", "pairs"),
    [(sleeping(0.5, 10.0), False, 2), (sleeping(0.5, 5000.0), True, 3), (stopped_asleep, True, 2)],
)
def test_under_way_long_sleep_is_found_as_at_last(pair: NewPair, sleeps: bool, pairs: int) -> None:
    """Sleep for seconds takes as many votes as when nothing else runs, since it is not measured again."""
    found = decide(2.0, pair, never, final=False)
    assert (found.below, found.is_slow_by_sleep, found.pairs) == (False, sleeps, pairs)


def test_pairs_are_closed() -> None:
    """Each pair's workers are ended, also when a check fails inside."""
    closed = []

    def samples() -> Generator[Sample, None, None]:
        try:
            yield Sample(Sides(0.001, 0.001))
            raise ValueError("a result is wrong")
        finally:
            closed.append(True)

    with pytest.raises(ValueError, match="wrong"):
        decide(2.0, samples, never)
    assert closed == [True]


def test_a_verdict_holds_for_every_scatter() -> None:
    """A hundred comparisons at 0.8 and 1.25 times the limit, with odd pairs among them: none is wrong."""
    chance = random.Random(7)

    def odd_now_and_then(ratio: float) -> NewPair:
        def new_pair() -> Generator[Sample, None, None]:
            factor = chance.choice([0.6, 1.6]) if chance.random() < 0.02 else chance.uniform(0.95, 1.05)
            return steady(ratio * factor, scatter=chance.uniform(0.0, 0.5))()

        return new_pair

    found: list[tuple[float, Ratio]] = [
        (ratio, decide(1.0, odd_now_and_then(ratio), never)) for ratio in (0.8, 1.25) for _ in range(50)
    ]
    assert [ratio for ratio, one in found if one.below is not (ratio < 1)] == []
