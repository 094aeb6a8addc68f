"""What crosses between a check and student code: values, and proxies with six operations. Probes do the rest."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from support import Function

from grader.check import has_parameters, learns, same_values, same_weights
from grader.connection.connection import connection_of
from grader.connection.raised import raised_by_student
from grader.connection.student import Student
from grader.wire.bounds import Unsupported

TEXT = """
import collections

CONFIG = [1, 2]

class Stack:
    def __init__(self, *items): self.items = list(items)
    def push(self, item): self.items.append(item); return self
    def __len__(self): return len(self.items)
    def __getitem__(self, at): return self.items[at]
    def __iter__(self): return iter(self.items)
    def __eq__(self, other): return True

Point = collections.namedtuple("Point", "x y")

class Own(KeyError):
    pass

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 2)
        self.register_buffer("calls", torch.zeros(()))
    def forward(self, x):
        self.calls += 1
        return self.first(x)

def given(x): return x
def both(a, b): return a, b
def add_(x): x += 1; return x
def up_to(n): yield from range(n)
def fail(): raise Own("no")
def views(): x = torch.arange(6.0); return x, x[2:4], x.numpy()
def point(): return Point(1, 2)
def of_stack(stack): return len(stack.items)
def make(): return lambda x: 2 * x
"""


@pytest.fixture
def student(function: Function) -> Any:
    """The module of above."""
    return Student(connection_of(function(TEXT)))


@pytest.fixture
def reference(function: Function) -> Any:
    """The same as the reference's."""
    return Student(connection_of(function(TEXT, owner="the reference's")))


# -- values -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        2**70,
        -0.0,
        math.inf,
        1 + 2j,
        "text é",
        b"\0\xff",
        slice(1, None, 2),
        ...,
        (1, [2, {"a": {3, 4}}]),
        torch.float16,
        torch.device("cpu"),
        torch.Size([2, 3]),
        np.float32(1.5),
    ],
    ids=repr,
)
def test_a_value_comes_back_as_it_was(student: Any, value: Any) -> None:
    """Of the same type, and equal."""
    found = student.given(value)
    assert type(found) is type(value)
    assert repr(found) == repr(value)


def test_an_argument_that_comes_back_is_that_argument(student: Any) -> None:
    """Objects keep their identity, alone and in containers, and memory that is shared stays shared."""
    x, items = torch.arange(4.0), [1]
    assert student.given(x) is x
    assert student.given(items) is items
    one, two = student.both(x, (items, x[1:]))
    assert one is x
    assert two[0] is items
    assert two[1].data_ptr() == x[1:].data_ptr()
    whole, part, array = student.views()
    whole[2] = 9.0
    assert (part[0], array[2]) == (9.0, 9.0)


def test_a_change_in_place_arrives(student: Any) -> None:
    """In the argument, in what it is a view of, and in an array or a list."""
    base = torch.zeros(4)
    assert student.add_(base[1:3]).tolist() == [1.0, 1.0]
    assert base.tolist() == [0.0, 1.0, 1.0, 0.0]
    array = np.zeros(2)
    student.add_(array)
    assert array.tolist() == [1.0, 1.0]


def test_an_error_arrives_as_its_builtin_type(student: Any) -> None:
    """It is marked as the student's, and an error of the check's own is not."""
    with pytest.raises(KeyError, match="no") as caught:
        student.fail()
    assert type(caught.value) is KeyError
    raised = raised_by_student(caught.value)
    assert raised is not None
    assert raised.type == "Own"
    assert raised_by_student(KeyError("no")) is None


def test_what_is_no_value_is_not_sent(student: Any) -> None:
    """A function, a module or a generator of the check's names the probe to write."""
    for thing in (lambda: 1, torch.nn.Linear(1, 1), torch.Generator(), iter([1])):
        with pytest.raises(Unsupported, match="write a probe"):
            student.given(thing)


# -- proxies ------------------------------------------------------------------------------------------------------


def test_a_proxy_has_six_operations(student: Any) -> None:
    """Get and set an attribute, call, get an item, length, iterate."""
    stack = student.Stack(1, 2)
    assert stack.items == [1, 2]
    stack.items = [3]
    assert (stack[0], len(stack), list(stack)) == (3, 1, [3])
    assert stack.push(4) is stack
    assert student.make()(3) == 6
    assert list(student.up_to(3)) == [0, 1, 2]
    assert student.of_stack(stack) == 2
    student.CONFIG = (5,)
    assert student.CONFIG == (5,)


@pytest.mark.parametrize(
    "use",
    [
        lambda stack: stack == stack,
        lambda stack: stack != 1,
        lambda stack: stack < stack,
        lambda stack: bool(stack),
        lambda stack: stack + 1,
        lambda stack: 1 in stack,
        lambda stack: stack.__setitem__(0, 1),
        lambda stack: float(stack),
        lambda stack: stack.__enter__(),
        lambda stack: next(stack),
        copy.copy,
        copy.deepcopy,
        pickle.dumps,
        np.asarray,
    ],
)
def test_every_other_use_is_refused_in_words(student: Any, use: Callable[[Any], Any]) -> None:
    """Nothing is silently true or false."""
    with pytest.raises(TypeError, match="which lives in another process: write a probe"):
        use(student.Stack(1))


def test_what_is_of_two_processes_is_refused(student: Any, reference: Any) -> None:
    """No object of one worker is taken for another's, at any depth."""
    mine, theirs = student.Stack(1), reference.Stack(9)
    for use in (
        lambda: student.Stack(theirs),
        lambda: student.Stack([{"a": theirs}]),
        lambda: mine.push(reference.given),
        lambda: mine[theirs],
        lambda: setattr(mine, "items", theirs),
    ):
        with pytest.raises(Unsupported, match="belongs to another process"):
            use()
    assert list(mine) == [1]


def test_an_object_of_a_lost_worker_is_gone(student: Any, function: Function) -> None:
    """It is not taken for an object of the worker that follows."""
    old = student.Stack(1)
    connection_of(old).close()
    uses: tuple[Callable[[], Any], ...] = (lambda: old.items, lambda: student.given(old))
    for use in uses:
        with pytest.raises(RuntimeError, match="is gone: its worker has ended"):
            use()


def test_a_report_needs_no_worker(student: Any) -> None:
    """What pytest shows of a failure comes from what is known here."""
    stack = student.Stack(1)
    connection_of(stack).close()
    assert repr([stack, student.Stack]) == "[<proxy of Stack>, Stack]"


# -- modules ------------------------------------------------------------------------------------------------------


def test_a_module_is_used_through_its_proxy(student: Any, reference: Any) -> None:
    """Its parameters come as values; it learns beside student code, and takes the reference's weights."""
    net, other = student.Net(), reference.Net()
    has_parameters(net, {"first.weight": (2, 3), "first.bias": (2,)}, buffers={"calls": ()}, dtype=torch.float32)
    learns(net, torch.randn(5, 3))
    same_weights(net, other)
    x = torch.randn(4, 3)
    same_values(net(x), other(x))
    assert dict(iter(net.named_parameters()))["first.weight"].shape == (2, 3)
    assert [tuple(p.shape) for p in net.parameters()] == [(2, 3), (2,)]
    assert net.eval() is net
    assert net.training is False
