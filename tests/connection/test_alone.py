"""While one worker is timed, no other one that holds a submission runs."""

from __future__ import annotations

import time

import torch
from support import Function

from grader.check.ratios import as_fast_as
from grader.connection.connection import Proxy, connection_of
from grader.connection.process import WorkerProcess
from grader.connection.starting import Starter

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
    with connection_of(other).alone():
        assert used_s(worker) < _LEFT_S
        assert float(other(torch.ones(3))) == 3
    assert used_s(worker) > 0
    assert float(busy(torch.ones(3))) == 3
    with connection_of(busy).alone():
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
    worker.life.kill()
    assert worker.life.exit_code() is not None
    with connection_of(other).alone():
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
    as_fast_as(busy, slow, lambda n: (torch.ones(n),), size=3000, at_most=0.5)
    took = time.monotonic() - started
    # It runs between samples, while arguments are made and processes start.
    assert (burning.cpu_s() or 0.0) - before < took * 0.7
