"""Timed calls: their replies come together, and are untrusted as any other."""

from __future__ import annotations

from contextlib import closing

import pytest
import torch
from support import Function

from grader.connection.timing import Inputs, TimedWorker
from grader.model import Verdict
from grader.model.endings import WorkerLost

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
        grown = timed.grow(Inputs((CALLS[1], 3)))
        assert grown is None or float(grown[2]) == 18.0


def test_what_a_call_raises_is_raised(function: Function) -> None:
    """The first exception of several calls."""
    total = function("def total(x):\n    if x[0] == 2: raise KeyError('two')\n    return x")
    with closing(TimedWorker(total)) as timed, pytest.raises(KeyError, match="two"):
        timed.call(Inputs(*[(x,) for x in CALLS]))


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
