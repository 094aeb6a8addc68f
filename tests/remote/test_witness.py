"""What a worker does beside a counted call is seen from outside."""

from __future__ import annotations

import pytest
import torch
from support import Function

from grader.check.costs import no_loop, uses_at_most
from grader.check.counts import count
from grader.check.memory import releases
from grader.model.endings import CheckFailed
from grader.remote.handle import side_of
from grader.remote.student import RemoteFunction

X = torch.arange(100.0)

_THREAD = """
import threading

def total(x):
    found = []
    thread = threading.Thread(target=lambda: found.append(sum(x)))
    thread.start()
    thread.join()
    return found[0]
"""
_WAITS = """
import queue, threading

asked, told = queue.Queue(), queue.Queue()

def work():
    while True:
        told.put(sum(asked.get()))

threading.Thread(target=work, daemon=True).start()

def total(x):
    asked.put(x)
    return told.get()
"""
_ENDS = """
import threading

def early(x):
    thread = threading.Thread(target=x.sum)
    thread.start()
    thread.join()

def total(x):
    return x.sum()
"""


@pytest.mark.parametrize("text", [_THREAD, _WAITS], ids=["ended", "waiting since the import"])
def test_work_in_another_thread_is_seen(function: Function, text: str) -> None:
    """However short a thread's work is and when it began: its CPU time shows, and the count is not believed."""
    total = function(text)
    for judge in (
        lambda: no_loop(total, (X[:10],), (X,)),
        lambda: uses_at_most(total, (X,), bytes=0),
        lambda: releases(total, X),
    ):
        with pytest.raises(CheckFailed, match="works in another thread, where nothing is counted") as failed:
            judge()
        assert " ms " not in failed.value.public


def test_a_spawned_worker_is_seen_too(spawned_function: Function) -> None:
    """A fresh interpreter has threads of its own at most; one of the student's shows as it does in a fork."""
    assert count(spawned_function("def total(x): return x.sum()"), X).uses == 1
    with pytest.raises(CheckFailed, match="works in another thread"):
        count(spawned_function(_THREAD), X)


def test_nobody_is_accused(function: Function) -> None:
    """Gradients, a thread of an earlier call that has ended, one that only waits: none of these is work beside it."""
    backward = "y = x.clone().requires_grad_()\n    with torch.enable_grad():\n        (y * y).sum().backward()"
    for text in (
        f"def total(x):\n    {backward}\n    return y.grad",
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "def total(x): return x.sum()",
    ):
        total = function(text)
        for _ in range(20):
            assert count(total, X).cpu_s
    early = function(_ENDS, "early")
    total = RemoteFunction(side_of(early), "total")
    for _ in range(20):
        early(X)
        assert count(total, X).ops == {"sum": 1}
