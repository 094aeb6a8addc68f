"""Speed checks in real workers, with a clock that tests can trust: what a function writes to its output is its time."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
import torch
from support import Function, failure

from grader.check.declare import Accelerator
from grader.check.ratios import assert_cpu_time_ratio
from grader.connection.connection import Proxy, connection_of
from grader.model.endings import CannotRun, CheckFailed, Inconclusive, WorkerLost
from grader.sandbox.clock import Disturbances
from grader.speed.measurement import Calls, Measurement, NewInputs, PairedRun
from grader.speed.ratio import Ratio
from grader.speed.timing import Inputs, TimedWorker, Timing, _Clocks
from grader.worker_process.process import WorkerProcess

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

    def cpu(timed: TimedWorker) -> float:
        worker = timed.connection.worker
        return worker.printed_bytes() / 1e6 if worker is not None else 0.0

    monkeypatch.setattr(TimedWorker, "_cpu", cpu)
    monkeypatch.setattr(TimedWorker, "_read_clocks", lambda timed: _Clocks(cpu(timed), 0.0))
    monkeypatch.setattr(WorkerProcess, "last_clocks", lambda worker: None)
    monkeypatch.setattr(PairedRun, "can_read_cpu_time", lambda pair: True)


def random_vector(size: int) -> tuple[torch.Tensor]:
    return (torch.randn(size),)


def judge(mine: Proxy, function: Function, at_most: float = 3.0, name: str = "total", **how: Any) -> Ratio:
    reference = function(REFERENCE, name, "the reference's")
    return assert_cpu_time_ratio(mine, reference, random_vector, size=100, at_most=at_most, rtol=1e-4, atol=1e-4, **how)


def writing(count: int) -> str:
    return f"def total(x):\n    os.write(1, b'.' * {count})\n    return x.sum()\n"


def test_a_ratio_is_found(function: Function) -> None:
    """Equal work passes, with the ratio noted for the report."""
    mine = function(writing(1500))
    assert judge(mine, function).value == pytest.approx(1.5)
    (row,) = connection_of(mine).record.speed
    assert vars(row) == {
        "told": "1.5 times as long as the reference (between 1.5 and 1.5); expected at most 3 times",
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


def test_too_slow_is_said_in_a_sentence(function: Function) -> None:
    """A failing check tells the limit; staff, and whoever may see the check, are told the ratio and the times too."""
    failed = failure(judge, function(writing(71_000)), function)
    assert failed.public == "`total` is too slow: it must take at most 3 times as long as the reference"
    for told in ("71 times as long as the reference; expected at most 3 times", "71 ms", "between 71 and 71"):
        assert told in failed.story
    failed = failure(judge, function(writing(1_590_000)), function)
    assert "1,590 times as long as the reference" in failed.story


def test_nobody_fails_under_way(function: Function) -> None:
    """While other things go on, who seems too slow is inconclusive; who is fast has passed for good."""
    slow, fast = function(writing(71_000)), function(writing(500))
    for function_ in (slow, fast):
        connection_of(function_).record.unconfirmed = True
    with pytest.raises(Inconclusive, match=r"`total` takes 71 times as long.*to be confirmed"):
        judge(slow, function)
    assert judge(fast, function).below is True
    connection_of(slow).record.unconfirmed = False
    assert "71 times as long" in failure(judge, slow, function).story


def test_a_slow_one_to_beat(function: Function) -> None:
    """With a limit below 1: so many times as fast as a slow one."""
    slow = function(REFERENCE, "given", "the reference's")
    how: dict[str, Any] = {"size": 100, "rtol": 1e-4, "atol": 1e-4, "named": "the loop", "at_most": 0.01}
    found = assert_cpu_time_ratio(function(writing(100)), slow, random_vector, **how)
    assert 1 / found.value == pytest.approx(1000)
    failed = failure(assert_cpu_time_ratio, function(writing(5000)), slow, random_vector, **how)
    assert "is 20 times as fast as the loop; expected at least 100 times" in failed.story


def test_several_calls_at_once(function: Function) -> None:
    """Each result is copied when its call ends, and their time is counted together."""
    kept = (
        "kept = torch.zeros(())\ndef total(x):\n"
        "    os.write(1, b'.' * 300)\n    kept.copy_(x.sum())\n    x.zero_()\n    return kept\n"
    )
    with closing(TimedWorker(function(kept))) as timed:
        timing = timed.call(Inputs(*((torch.full((3,), float(number)),) for number in range(3))))
    assert [float(result) for result in timing.results] == [0.0, 3.0, 6.0]
    assert timing.cpu_s == pytest.approx(0.0009)


def compare(mine: Proxy, other: Proxy, inputs: NewInputs = random_vector, limit: float = 0.01) -> Measurement:
    def same(a: Any, b: Any) -> None:
        torch.testing.assert_close(a, b)

    return Measurement(mine, other, inputs, limit, same, 100)


def test_short_calls_are_several_in_a_sample(function: Function) -> None:
    """Each side makes as many as take two milliseconds, and the ratio is that of one call of each."""
    measurement = compare(function(writing(100)), function(REFERENCE, "given", "the reference's"))
    assert measurement.decide().value == pytest.approx(0.001)
    assert measurement.calls == Calls(32, 1)


def disturbed(
    function: Function, monkeypatch: pytest.MonkeyPatch, preempted: Callable[[int], bool]
) -> tuple[Ratio, int]:
    """A comparison where some calls are preempted and take ten times as long for it, and how many calls it took."""
    count = itertools.count()
    real = TimedWorker._time_request

    def timed(worker: TimedWorker, inputs: Inputs, seconds: float, *, idle: bool) -> Timing:
        timing = real(worker, inputs, seconds, idle=idle)
        if not idle and preempted(next(count)):
            timing.disturbances, timing.cpu_s = Disturbances(0, 1000), 10 * timing.cpu_s
        return timing

    monkeypatch.setattr(TimedWorker, "_time_request", timed)
    found = compare(function(writing(3000)), function(REFERENCE, "given", "the reference's"), limit=0.5).decide()
    return found, next(count)


def test_disturbed_samples_are_taken_again(function: Function, monkeypatch: pytest.MonkeyPatch) -> None:
    """What other programs did to a sample is seen from outside, and that sample does not count."""
    # Of a warm-up and two samples to find the size, the calls are 0 to 5.
    found, calls = disturbed(function, monkeypatch, lambda number: number in (6, 9, 10))
    assert [found.value, found.high] == pytest.approx([0.03, 0.03])
    assert (found.samples, calls) == (2, 6 + 2 * (3 + 2))


def test_a_machine_that_is_never_quiet(function: Function, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all samples are disturbed they count, after four that were taken again."""
    found, calls = disturbed(function, monkeypatch, lambda number: True)
    assert found.below
    assert (found.samples, calls) == (2, 6 + 2 * (4 + 2))


def test_calls_do_not_see_what_others_wrote(function: Function) -> None:
    """Also where a check gives the same tensor each time."""
    same = torch.ones(100)
    spoils = "def total(x):\n    y = x.sum()\n    x.zero_()\n    os.write(1, b'.' * 100)\n    return y\n"
    measurement = compare(function(spoils), function(REFERENCE, "given", "the reference's"), lambda size: (same,))
    assert measurement.decide().below


def test_loading_is_not_the_machines_time(function: Function) -> None:
    """A module that sleeps while it loads does not use up the time in which a comparison is decided."""
    slow_to_load = function("import time\ntime.sleep(0.1)\n" + writing(900))
    measurement = compare(slow_to_load, function(REFERENCE, "given", "our"))
    assert measurement.decide().pairs == 3
    assert measurement.left_out_s >= 0.3


def test_sleep_is_not_the_machines_time(function: Function, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does a call that sleeps, and it is not made several times in a sample."""
    asleep = itertools.count()
    monkeypatch.setattr(TimedWorker, "_read_clocks", lambda timed: _Clocks(timed._cpu(), float(next(asleep))))
    measurement = compare(function(writing(10)), function(REFERENCE, "given", "the reference's"))
    found = measurement.decide()
    assert measurement.calls is not None
    assert measurement.calls.mine == 1
    assert measurement.left_out_s >= found.samples


@pytest.mark.parametrize(("processes", "raised"), [(1, CheckFailed), (2, Inconclusive)])
def test_long_sleep_is_not_measured_again(
    function: Function, monkeypatch: pytest.MonkeyPatch, processes: int, raised: type[Exception]
) -> None:
    """Who sleeps for seconds while other things go on has failed, unless its own processes may wait for a core."""
    asleep = itertools.count()
    seen = {"your `total`": asleep, "the reference's `total`": itertools.repeat(0)}
    monkeypatch.setattr(
        TimedWorker, "_read_clocks", lambda timed: _Clocks(timed._cpu(), float(next(seen[timed._what])))
    )
    mine = function(writing(10), processes=processes)
    connection_of(mine).record.unconfirmed = True
    with pytest.raises(raised, match="`total` sleeps"):
        judge(mine, function)


def test_work_after_the_reply_is_counted(function: Function) -> None:
    """A thread that goes on after the reply is charged to the call."""
    late = """
import threading
def total(x):
    threading.Timer(0.05, os.write, (1, b"." * 700)).start()
    os.write(1, b"." * 300)
    return x.sum()
"""
    with closing(TimedWorker(function(late))) as timed:
        timing = timed.call(Inputs((torch.ones(3),)))
        time.sleep(1)
        timed.add_late_work()
    assert timing.cpu_s == pytest.approx(0.001)


def test_clocks_of_the_student_do_not_matter(function: Function) -> None:
    """Replacing every clock in the worker changes nothing."""
    patched = (
        "import time\nfor n in ('time', 'perf_counter', 'monotonic', 'process_time'): setattr(time, n, lambda: 0)\n"
    )
    assert "9 times as long" in failure(judge, function(patched + writing(9000)), function).story


@pytest.mark.parametrize(
    "text",
    [
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
    assert "the result of a timed call" in failure(judge, function(text + "\n"), function).public


def test_arguments_changed_in_place(function: Function) -> None:
    """With `in_place`, what became of the arguments is compared."""
    right = function("def double(x): x += x\n", "double")
    assert judge(right, function, name="double", in_place=True).below is True
    wrong = function("def double(x): x += 1\n", "double")
    failed = failure(judge, wrong, function, name="double", in_place=True)
    assert "the result of a timed call" in failed.public


def test_a_call_that_does_not_end(function: Function) -> None:
    """It is stopped, and told as a lower bound."""
    endless = function("def total(x):\n    while True: pass\n", call_s=0.5)
    assert "more than 500 times as long as the reference" in failure(judge, endless, function).story


def test_what_ends_does_not_concern_speed(function: Function) -> None:
    """A crash is a crash, what the function raises comes out, and if the reference ends, nobody loses a point."""
    with pytest.raises(WorkerLost, match="exit status 3"):
        judge(function("def total(x): os._exit(3)\n"), function)
    with pytest.raises(ZeroDivisionError):
        judge(function("def total(x): return 1 / 0\n"), function)
    broken = function("def total(x): os._exit(3)\n", "total", "the reference's")
    with pytest.raises(RuntimeError, match="the other side of a comparison was lost"):
        assert_cpu_time_ratio(function(writing(10)), broken, random_vector, size=100, at_most=3.0)


def test_advice_without_a_clock(function: Function, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no CPU clock can be read, the ratio is told and nothing is decided."""
    monkeypatch.setattr(WorkerProcess, "last_clocks", lambda worker: None)
    monkeypatch.setattr(PairedRun, "can_read_cpu_time", lambda pair: False)
    with pytest.raises(CannotRun, match="by wall-clock time: 71 times as long as the reference"):
        judge(function(writing(71_000)), function)


def test_inputs_are_enlarged_until_the_clock_sees_them(function: Function) -> None:
    """Where the reference is too fast for the clock, the size doubles; the warm-up has a tenth of it."""
    sizes = []

    def inputs(size: int) -> tuple[torch.Tensor]:
        sizes.append(size)
        return (torch.ones(size),)

    text = "def total(x):\n    os.write(1, b'.' * x.numel())\n    return x.sum()\n"
    assert_cpu_time_ratio(function(text), function(text, "total", "the reference's"), inputs, size=90, at_most=3.0)
    assert sizes[:5] == [9, 90, 180, 360, 720]
    assert set(sizes[5:]) == {720, 9 * 8}


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

    assert assert_cpu_time_ratio(mine, reference, inputs, size=1000, at_most=3.0).below
    with closing(TimedWorker(mine)) as timed:
        (result,) = timed.call(Inputs((numbers[-1],))).results
    torch.testing.assert_close(result, 2 * numbers[-1].sum())
    with pytest.raises(pytest.skip.Exception, match="not on CUDA"):
        TimedWorker(function(text, device="cuda"))
