"""What an object keeps of a check's: the student's is the check's own, the reference's is a copy, which is told."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support import Function

from grader.remote.handle import side_of
from grader.remote.student import Student

TEXT = """
class Keeper:
    def __init__(self, item): self.item = item
    def push(self, x): self.item.append(x); return self
    def fill(self, k): self.item.fill_(k)
    def total(self): return sum(self.item)

def scale(x): return 2 * x
def version(): return 2
"""


def test_what_an_object_keeps_is_shared(function: Function) -> None:
    """A list or tensor of the check's that a student's object keeps: a change by either is there for the other."""
    side = side_of(function(TEXT))
    side.begin_check(1, recording=False)
    student: Any = Student(side)
    items, x = [1], torch.zeros(2)
    keeper, other = student.Keeper(items), student.Keeper(x)
    keeper.push(2)
    items.append(3)
    assert (items, keeper.total(), keeper.item is items) == ([1, 2, 3], 6, True)
    other.fill(4.0)
    x += 1
    assert (x.tolist(), float(other.total())) == ([5.0, 5.0], 10.0)
    dropped = [student.Keeper([k]).push(k).total() for k in range(20)]
    assert dropped == [2 * k for k in range(20)]
    assert student.version() == 2  # the worker is told what was dropped
    assert [known.obj for known in side.exchange.containers.values()] == [[1, 2, 3]]


def test_what_the_reference_keeps_is_refused(function: Function) -> None:
    """It has copies: the first call in which check and reference would come apart is an error of the check."""
    side = side_of(function(TEXT, owner="the reference's"))
    side.originals = side_of(function(TEXT))
    side.begin_check(1, recording=False)
    reference: Any = Student(side)
    given: Any
    change: Any
    for given, change in (([1], lambda x: x.append(2)), (torch.zeros(2), lambda x: x.add_(1))):
        keeper = reference.Keeper(given)
        keeper.total()
        change(given)
        with pytest.raises(RuntimeError, match=r"keeps a copy of .* of the check's which the check has changed since"):
            keeper.total()
        del given
        side.begin_check(1, recording=False)
    for given, change in (([1], lambda keeper: keeper.push(2)), (torch.zeros(2), lambda keeper: keeper.fill(1))):
        keeper = reference.Keeper(given)
        with pytest.raises(RuntimeError, match=r"keeps a copy of .* of the check's and changes that, not"):
            change(keeper)
        side.begin_check(1, recording=False)
    w: Any = torch.ones(2, requires_grad=True)
    reference.scale(w).sum().backward()  # a graph leads to the check's own
    assert w.grad is not None
