"""What student code finds in uninitialized memory."""

from __future__ import annotations

from contextlib import closing

import pytest
import torch
from support import Function

from grader.speed.timing import Inputs, TimedWorker
from grader.worker import surroundings

UNINITIALIZED = """
def total(x):
    dirt = [torch.rand(n) for n in (1, 6, 100, 10_000) for _ in range(20)]
    del dirt
    return torch.cat([torch.empty(n) for n in (1, 6, 100, 10_000)])
"""
NUMBER = torch.full((4,), 0x7F, dtype=torch.uint8).view(torch.float32)

pytestmark = pytest.mark.skipif(surroundings._set_malloc is None, reason="only glibc fills memory")


def test_it_is_the_same_each_time(function: Function) -> None:
    """In each worker, and whatever lay there before: a sum into it is never right by luck, nor differs from itself."""
    x = torch.zeros(1)
    for total in (function(UNINITIALIZED), function(UNINITIALIZED)):
        for _ in range(2):
            assert total(x).tolist() == NUMBER.expand(10_107).tolist()


def test_timed_calls_do_not_wait_for_it(function: Function) -> None:
    """A megabyte that the system has just given is left as it is, so that it takes no time."""
    x = torch.zeros(1)
    total = function("def total(x): return torch.empty(10**7)[-1].clone()")
    assert float(total(x)) == float(NUMBER)
    with closing(TimedWorker(total)) as timed:
        assert float(timed.call(Inputs((x,))).results[0]) == 0.0
    assert float(total(x)) == float(NUMBER)
