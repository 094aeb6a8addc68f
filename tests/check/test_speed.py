"""Speed checks in real workers, with a clock that tests can trust: what a function writes to its output is its time."""

from __future__ import annotations

import itertools
import json
import random
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import numpy as np
import pytest
import torch
from support import Function

from grader.check.devices import Accelerator
from grader.check.speed import as_fast_as, faster_than
from grader.model.endings import CannotRun, CheckFailed, Inconclusive, WorkerLost
from grader.process.clock import Disturbances
from grader.remote.handle import side_of
from grader.remote.pair import Calls, Comparison, NewInputs
from grader.remote.ratio import Ratio
from grader.remote.student import RemoteFunction
from grader.remote.timing import Inputs, TimedSide, Timing
from grader.remote.trial import Trial

REFERENCE = """
import os
def total(x):
    os.write(1, b"." * 1000)
    return x.sum()
def given(x):
    os.write(1, b"." * 100_000)
    return x.sum()
def double(x):
    os.write(1, b"." * 1000)
    x.mul_(2)
"""


@pytest.fixture(autouse=True)
def written_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A microsecond for each byte of output. The process's own clock is not looked at."""

    def cpu(side: TimedSide) -> float:
        worker = side._side.sitting.worker
        return worker.printed() / 1e6 if worker is not None else 0.0

    monkeypatch.setattr(TimedSide, "_cpu", cpu)
    monkeypatch.setattr(TimedSide, "_away", lambda side: 0.0)
    monkeypatch.setattr(TimedSide, "has_cpu_clock", lambda side: True)


def random_vector(size: int) -> tuple[torch.Tensor]:
    return (torch.randn(size),)


def judge(mine: RemoteFunction, function: Function, at_most: float = 3.0, name: str = "total", **how: Any) -> Ratio:
    reference = function(REFERENCE, name, "the reference's")
    return as_fast_as(mine, reference, random_vector, size=100, at_most=at_most, rtol=1e-4, atol=1e-4, **how)


def writing(count: int) -> str:
    return f"def total(x):\n    os.write(1, b'.' * {count})\n    return x.sum()\n"


def test_a_ratio_is_found(function: Function) -> None:
    """Equal work passes, with the ratio noted for the report."""
    mine = function(writing(1500))
    assert judge(mine, function).value == pytest.approx(1.5)
    (row,) = side_of(mine).speed
    assert vars(row) == {
        "told": "1.5 times as long as the reference (between 1.5 and 1.5); at most 3 is asked",
        "against": "the reference",
        "ratio": 1.5,
        "low": 1.5,
        "high": 1.5,
        "at_most": 3.0,
        "yours_ms": 1.5,
        "theirs_ms": 1.0,
        "calls": 10,
        "pairs": 2,
    }


def test_too_slow_is_told_in_a_sentence(function: Function) -> None:
    """A failing check tells the limit; staff, and whoever may see the check, are told the ratio and the times too."""
    with pytest.raises(CheckFailed) as failed:
        judge(function(writing(71_000)), function)
    assert failed.value.public == "`total` is too slow: at most 3 times as long as the reference is asked"
    assert "71 times slower than the reference; at most 3 is asked" in failed.value.story
    assert "71 ms" in failed.value.story
    assert "between 71 and 71" in failed.value.story
    with pytest.raises(CheckFailed, match=r"1,590 times slower than the reference"):
        judge(function(writing(1_590_000)), function)


def test_nobody_fails_under_way(function: Function) -> None:
    """While other things go on, who seems too slow is inconclusive; who is fast has passed for good."""
    slow, fast = function(writing(71_000)), function(writing(500))
    side_of(slow).provisional = side_of(fast).provisional = True
    with pytest.raises(Inconclusive, match=r"`total` is 71 times slower.*to be confirmed"):
        judge(slow, function)
    assert judge(fast, function).below is True
    side_of(slow).provisional = False
    with pytest.raises(CheckFailed, match="71 times slower"):
        judge(slow, function)


def test_a_slow_one_to_beat(function: Function) -> None:
    """The other direction: so many times as fast as a slow one."""
    slow = function(REFERENCE, "given", "the reference's")
    how: dict[str, Any] = {"size": 100, "rtol": 1e-4, "atol": 1e-4}
    found = faster_than(function(writing(100)), slow, random_vector, at_least=100, **how)
    assert 1 / found.value == pytest.approx(1000)
    with pytest.raises(CheckFailed, match="only 20 times as fast as the loop you were given; at least 100 is asked"):
        faster_than(function(writing(5000)), slow, random_vector, at_least=100, **how)


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_numbers_come_with_go(start: str, request: pytest.FixtureRequest) -> None:
    """Until the clock runs, tensors and arrays have their shapes and hold zeros, and nothing else is there."""
    function = request.getfixturevalue("function" if start == "fork" else "spawned_function")
    spy = """
import sys
serve = sys.modules["grader.worker.serve"].Submission
seen = []
real = serve._done
def done(self, request, incoming):
    if type(request).__name__ != "Prepare":
        return real(self, request, incoming)
    leaves = [known.refer() for known in self._timed.known.values()]
    more = [len(self._timed.containers), hasattr(request, "calls")]
    seen[:] = [str(type(leaf)) + str(leaf.any()) for leaf in leaves] + more
serve._done = done
def total(x, a, rest, k):
    return seen, x.sum(), a, rest, k
"""
    side = TimedSide(function(spy))
    x, a = torch.ones(5), np.arange(1, 4)
    result = side.call(Inputs((x, a, [x, 3.5], 7))).result
    side.close()
    (seen, total, array, rest, number) = result
    assert seen == ["<class 'torch.Tensor'>tensor(False)", "<class 'numpy.ndarray'>False", 0, False]
    assert (total, array.tolist(), rest[1], number) == (5.0, [1, 2, 3], 3.5, 7)
    assert torch.equal(rest[0], x)


def test_without_shared_memory(spawned_function: Function) -> None:
    """Where no memory can be shared, the numbers come along with `go`, and the ratio is the same."""
    spoils = "def total(x):\n    y = x.sum()\n    x.zero_()\n    os.write(1, b'.' * 1500)\n    return y\n"
    assert judge(spawned_function(spoils), spawned_function).value == pytest.approx(1.5)


def test_several_calls_at_once(function: Function) -> None:
    """Each result is copied when its call ends, and their time is counted together."""
    kept = (
        "kept = torch.zeros(())\ndef total(x):\n"
        "    os.write(1, b'.' * 300)\n    kept.copy_(x.sum())\n    x.zero_()\n    return kept\n"
    )
    with closing(TimedSide(function(kept))) as side:
        timing = side.call(Inputs(*((torch.full((3,), float(number)),) for number in range(3))))
    assert [float(result) for result in timing.results] == [0.0, 3.0, 6.0]
    assert timing.cpu_s == pytest.approx(0.0009)


def test_what_one_of_several_calls_raises(function: Function) -> None:
    """The first exception ends them, and is the student's."""
    with closing(TimedSide(function("def total(x): return 1 // x\n"))) as side, pytest.raises(ZeroDivisionError):
        side.call(Inputs((1,), (0,), (2,)))


def compare(
    mine: RemoteFunction, other: RemoteFunction, inputs: NewInputs = random_vector, limit: float = 0.01
) -> Trial:
    def same(a: Any, b: Any) -> None:
        torch.testing.assert_close(a, b)

    return Trial(Comparison(mine, other, inputs, limit, same), 100)


def test_short_calls_are_several_in_a_lap(function: Function) -> None:
    """Each side makes as many as take two milliseconds, and the ratio is that of one call of each."""
    trial = compare(function(writing(100)), function(REFERENCE, "given", "the reference's"))
    assert trial.decide().value == pytest.approx(0.001)
    assert trial.calls == Calls(32, 1)


def disturbed(
    function: Function, monkeypatch: pytest.MonkeyPatch, preempted: Callable[[int], bool]
) -> tuple[Ratio, int]:
    """A comparison where some calls are preempted and take ten times as long for it, and how many calls it took."""
    count = itertools.count()
    real = TimedSide._timed

    def timed(side: TimedSide, inputs: Inputs, seconds: float, *, idle: bool) -> Timing:
        timing = real(side, inputs, seconds, idle=idle)
        if not idle and preempted(next(count)):
            timing.disturbances, timing.cpu_s = Disturbances(0, 1000), 10 * timing.cpu_s
        return timing

    monkeypatch.setattr(TimedSide, "_timed", timed)
    found = compare(function(writing(3000)), function(REFERENCE, "given", "the reference's"), limit=0.5).decide()
    return found, next(count)


def test_disturbed_laps_are_taken_again(function: Function, monkeypatch: pytest.MonkeyPatch) -> None:
    """What other programs did to a lap is seen from outside, and that lap does not count."""
    # Of a warm-up and two laps to find the size, the calls are 0 to 5.
    found, calls = disturbed(function, monkeypatch, lambda number: number in (6, 9, 10))
    assert [found.value, found.high] == pytest.approx([0.03, 0.03])
    assert (found.laps, calls) == (2, 6 + 2 * (3 + 2))


def test_a_machine_that_is_never_quiet(function: Function, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all laps are disturbed they count, after four that were taken again."""
    found, calls = disturbed(function, monkeypatch, lambda number: True)
    assert found.below
    assert (found.laps, calls) == (2, 6 + 2 * (4 + 2))


def test_calls_do_not_see_what_others_wrote(function: Function) -> None:
    """Also where a check gives the same tensor each time."""
    same = torch.ones(100)
    spoils = "def total(x):\n    y = x.sum()\n    x.zero_()\n    os.write(1, b'.' * 100)\n    return y\n"
    trial = compare(function(spoils), function(REFERENCE, "given", "the reference's"), lambda size: (same,))
    assert trial.decide().below


def test_results_made_up_in_part(function: Function, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the slow side answers some of the calls, nobody knows which: right answers in those before do not help."""
    text = """
import sys
serve = sys.modules["grader.worker.serve"].Submission
first, real = [True], serve._go
def go(self, *args):
    first[0] = True
    return real(self, *args)
serve._go = go
def total(x):
    honest, first[0] = first[0], False
    os.write(1, b"." * (1000 if honest else 1))
    return x.sum() * honest
"""
    chance = random.Random(5)
    monkeypatch.setattr(random, "SystemRandom", lambda: chance)
    with pytest.raises(AssertionError):
        compare(function(text), function(REFERENCE, "given", "the reference's")).decide()


def test_loading_is_not_the_machines_time(function: Function) -> None:
    """A module that sleeps while it loads does not use up the time in which a comparison is decided."""
    trial = compare(function("import time\ntime.sleep(0.1)\n" + writing(900)), function(REFERENCE, "given", "our"))
    assert trial.decide().pairs == 3
    assert trial.budget.left_out_s >= 0.3


def test_sleep_is_not_the_machines_time(function: Function, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does a call that sleeps, and it is not made several times in a lap."""
    away = itertools.count()
    monkeypatch.setattr(TimedSide, "_away", lambda side: float(next(away)))
    trial = compare(function(writing(10)), function(REFERENCE, "given", "the reference's"))
    found = trial.decide()
    assert trial.calls.mine == 1
    assert trial.budget.left_out_s >= found.laps


def call(mine: RemoteFunction, *args: Any, wait_s: float = 0.0) -> Timing:
    side = TimedSide(mine)
    timing = side.call(Inputs(args))
    time.sleep(wait_s)
    side.add_late_work()
    side.close()
    return timing


def test_work_after_the_reply_is_counted(function: Function) -> None:
    """A thread that goes on after the reply is charged to the call."""
    late = """
import threading
def total(x):
    threading.Timer(0.05, os.write, (1, b"." * 700)).start()
    os.write(1, b"." * 300)
    return x.sum()
"""
    assert call(function(late), torch.ones(3), wait_s=1.0).cpu_s == pytest.approx(0.001)


def test_clocks_of_the_student_do_not_matter(function: Function) -> None:
    """Replacing every clock in the worker changes nothing."""
    patched = (
        "import time\nfor n in ('time', 'perf_counter', 'monotonic', 'process_time'): setattr(time, n, lambda: 0)\n"
    )
    with pytest.raises(CheckFailed, match="9 times slower"):
        judge(function(patched + writing(9000)), function)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("kept = {}\ndef total(x): return kept.setdefault(x.data_ptr(), x.sum())", id="address"),
        pytest.param("kept = {}\ndef total(x): return kept.setdefault(x.shape, x.sum())", id="shape"),
        pytest.param("def total(x): return torch.empty(())", id="nothing computed"),
        pytest.param(
            "import threading\ndef total(x):\n"
            "    y = torch.zeros(())\n    threading.Timer(0.2, lambda: y.add_(x.sum())).start()\n    return y",
            id="computed later",
        ),
        pytest.param(
            "class Lazy(torch.Tensor):\n    pass\ndef total(x): return x.sum().as_subclass(Lazy)", id="a subclass"
        ),
        pytest.param("def total(x): return lambda: x.sum()", id="a promise"),
    ],
)
def test_a_result_that_is_not_computed(function: Function, text: str) -> None:
    """Every timed result is compared, so what is kept, put off or promised fails."""
    with pytest.raises(CheckFailed, match="the result of a timed call"):
        judge(function(text + "\n"), function)


def test_inputs_are_ours(function: Function) -> None:
    """What a function writes into its arguments reaches neither the other side nor us."""
    spoils = "def total(x):\n    y = x.sum()\n    x.zero_()\n    return y\n"
    assert judge(function(spoils), function).below is True


def test_arguments_changed_in_place(function: Function) -> None:
    """With `in_place`, what became of the arguments is compared."""
    right = function("def double(x): x += x\n", "double")
    assert judge(right, function, name="double", in_place=True).below is True
    with pytest.raises(CheckFailed, match="the result of a timed call"):
        judge(function("def double(x): x += 1\n", "double"), function, name="double", in_place=True)


def test_a_call_that_does_not_end(function: Function) -> None:
    """It is stopped, and told as a lower bound."""
    endless = function("def total(x):\n    while True: pass\n", call_s=0.5)
    with pytest.raises(CheckFailed, match="more than 500 times slower than the reference"):
        judge(endless, function)


def test_a_worker_that_ends(function: Function) -> None:
    """A crash is a crash, not a matter of speed."""
    with pytest.raises(WorkerLost, match="exit status 3"):
        judge(function("def total(x): os._exit(3)\n"), function)


def test_an_exception_is_the_students(function: Function) -> None:
    """What the function raises comes out of the check."""
    with pytest.raises(ZeroDivisionError):
        judge(function("def total(x): return 1 / 0\n"), function)


def test_a_lost_reference_is_our_fault(function: Function) -> None:
    """If the other side ends, nobody loses a point."""
    broken = function("def total(x): os._exit(3)\n", "total", "the reference's")
    with pytest.raises(RuntimeError, match="the other side of a comparison was lost"):
        as_fast_as(function(writing(10)), broken, random_vector, size=100, at_most=3.0)


def test_advice_without_a_clock(function: Function, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no CPU clock can be read, the ratio is told and nothing is decided."""
    monkeypatch.setattr(TimedSide, "has_cpu_clock", lambda side: False)
    with pytest.raises(CannotRun, match="by the clock on the wall: 71 times as long as the reference"):
        judge(function(writing(71_000)), function)


def test_inputs_are_enlarged_until_the_clock_sees_them(function: Function) -> None:
    """Where the reference is too fast for the clock, the size doubles; the warm-up has a tenth of it."""
    sizes = []

    def inputs(size: int) -> tuple[torch.Tensor]:
        sizes.append(size)
        return (torch.ones(size),)

    text = "def total(x):\n    os.write(1, b'.' * x.numel())\n    return x.sum()\n"
    as_fast_as(function(text), function(text, "total", "the reference's"), inputs, size=90, at_most=3.0)
    assert sizes[:5] == [9, 90, 180, 360, 720]
    assert set(sizes[5:]) == {720, 9 * 8}


def test_what_does_not_cross_is_refused() -> None:
    """Descriptions of timed inputs hold no numbers, and parts are aligned."""
    inputs = Inputs((torch.arange(5), torch.ones(2, 2), [1.25]))
    assert inputs.starts == [0, 64]
    assert inputs.size == 128
    assert "1.25" not in json.dumps(inputs.shapes)
    assert len(inputs.whole()) == inputs.size


def test_arguments_on_an_accelerator(function: Function) -> None:
    """Timed arguments lie where the check put them, and their numbers arrive; CUDA's clock is not read."""
    text = (
        "def total(x):\n    assert str(x.device) == 'sim:1'\n    os.write(1, b'.' * 1000)\n    return (x * 2).sum()\n"
    )
    mine, reference = (function(text, device="sim", owner=owner) for owner in ("your", "the reference's"))
    numbers: list[torch.Tensor] = []

    def inputs(size: int) -> tuple[torch.Tensor]:
        numbers.append(Accelerator().put(torch.randn(size), 1))
        return (numbers[-1],)

    assert as_fast_as(mine, reference, inputs, size=1000, at_most=3.0).below
    with closing(TimedSide(mine)) as side:
        result = side.call(Inputs((numbers[-1],))).result
    torch.testing.assert_close(result, 2 * numbers[-1].sum())
    with pytest.raises(pytest.skip.Exception, match="not on CUDA"):
        TimedSide(function(text, device="cuda"))
