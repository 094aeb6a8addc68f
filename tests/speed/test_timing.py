"""Timed calls: their replies come together, and are untrusted as any other; no other submission runs meanwhile."""

from __future__ import annotations

import time
from contextlib import closing

import pytest
import torch
from support import Function

from grader.check.ratios import assert_cpu_time_ratio
from grader.connection.connection import Proxy, connection_of
from grader.model import Verdict
from grader.model.endings import WorkerLost
from grader.speed.timing import Inputs, TimedWorker
from grader.worker_process.process import WorkerProcess
from grader.worker_process.starter import Starter

CALLS = [torch.full((3,), float(number)) for number in range(4)]


@pytest.mark.parametrize("start", ["function", "spawned_function"])
def test_each_call_has_its_result(start: str, request: pytest.FixtureRequest) -> None:
    """Several calls of one request, each on its own numbers, which come only when the clock runs."""
    function: Function = request.getfixturevalue(start)
    total = function("def total(x, n):\n    x.add_(1)\n    return x.sum() * n")
    with closing(TimedWorker(total)) as timed:
        inputs = Inputs(*[(x.clone(), 2) for x in CALLS], in_place=True)
        timing = timed.call(inputs)
        assert [float(result) for result, _ in timing.results] == [6.0, 12.0, 18.0, 24.0]
        assert [args[0].tolist() for _, args in timing.results] == [[n + 1.0] * 3 for n in range(4)]
        assert timing.cpu_s >= 0
        assert timed.call(Inputs((CALLS[2], 5)), idle=True).results == [5]
        grown = timed.memory_around_call(Inputs((CALLS[1], 3)))
        assert grown is None or float(grown[2]) == 18.0


LIES = """
import sys
frames = sys.modules["grader.wire.frames"]
send = frames.Channel.send

def sent(self, number, tree, data=(), patience=None):
    if tree.get("parts"):
        (lambda tree: {change})(tree)
    return send(self, number, tree, data)

frames.Channel.send = sent

def total(x):
    return x.clone()
"""


@pytest.mark.parametrize(
    "change",
    [
        "tree.clear()",
        "tree.update(sizes=5)",
        "tree['sizes'].pop()",
        "tree['parts'].pop()",
        "tree.update(parts=[], sizes=[])",
        "tree['parts'].append(tree['parts'][0]) or tree['sizes'].append(0)",
        "tree['sizes'].__setitem__(0, -64)",
        "tree['sizes'].__setitem__(0, True)",
        "tree['sizes'].__setitem__(0, 1)",
        "tree['sizes'].__setitem__(0, 1 << 62)",
        "tree['parts'].__setitem__(1, 5)",
    ],
)
def test_replies_that_are_described_wrongly(function: Function, change: str) -> None:
    """Each call has one reply with its own part of the memory; else the worker is lost."""
    total = function(LIES.replace("{change}", change))
    with closing(TimedWorker(total)) as timed, pytest.raises(WorkerLost) as caught:
        timed.call(Inputs(*[(x,) for x in CALLS]))
    assert caught.value.verdict is Verdict.CRASHED


# -- while one worker is timed, no other one that holds a submission runs ---------------------------------------------


_BUSY = """
import threading

def spin():
    while True:
        pass

threading.Thread(target=spin, daemon=True).start()

def total(x):
    return x.sum()
"""
_WINDOW_S = 0.2
_LEFT_S = 0.001
"""A thread that runs on another core is stopped at its next step, and no later."""


def live(function: Proxy) -> WorkerProcess:
    """The worker behind a function, loaded."""
    connection_of(function).names()
    return connection_of(function).live_worker()


def used_s(worker: WorkerProcess) -> float:
    """CPU seconds in a moment."""
    before = worker.cpu_s() or 0.0
    time.sleep(_WINDOW_S)
    return (worker.cpu_s() or 0.0) - before


def stops_and_goes_on(busy: Proxy, other: Proxy) -> None:
    """A thread that spins uses nothing while another worker is alone, and goes on afterwards; calls work as ever."""
    worker = live(busy)
    live(other)
    assert used_s(worker) > 0
    with connection_of(other).exclusive():
        assert used_s(worker) < _LEFT_S
        assert float(other(torch.ones(3))) == 3
    assert used_s(worker) > 0
    assert float(busy(torch.ones(3))) == 3
    with connection_of(busy).exclusive():
        assert used_s(worker) > 0


def test_others_are_stopped(function: Function) -> None:
    """Forked workers are stopped by a descriptor of their process."""
    stops_and_goes_on(function(_BUSY), function("def total(x): return x.sum()"))


def test_spawned_others_are_stopped(spawned_function: Function) -> None:
    """Spawned ones by their number."""
    stops_and_goes_on(spawned_function(_BUSY), spawned_function("def total(x): return x.sum()"))


def test_a_worker_that_ended_is_left_alone(function: Function, forks: Starter) -> None:
    """One that is gone is sent nothing, and a connection that is closed holds none."""
    gone, other = function("def total(x): os._exit(3)"), function("def total(x): return x.sum()")
    worker = live(gone)
    live(other)
    worker.kill()
    assert worker.await_end() is not None
    with connection_of(other).exclusive():
        assert float(other(torch.ones(3))) == 3
    connection_of(gone).close()
    assert worker not in forks.students


def test_timed_calls_are_alone(function: Function) -> None:
    """A submission that burns time in the worker of its other checks does not while it is timed."""
    busy, slow = function(_BUSY.replace("threading.Thread", "if False: threading.Thread")), None
    slow = function("def total(x): return sum(x)", owner="the reference's")
    burning = live(function(_BUSY))
    before = burning.cpu_s() or 0.0
    started = time.monotonic()
    assert_cpu_time_ratio(busy, slow, lambda n: (torch.ones(n),), size=3000, at_most=0.5)
    took = time.monotonic() - started
    # It runs between samples, while arguments are made and processes start.
    assert (burning.cpu_s() or 0.0) - before < took * 0.7
