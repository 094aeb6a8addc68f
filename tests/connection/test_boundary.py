"""What crosses between a check and a real worker: values both ways, proxies for everything else, nothing besides."""

from __future__ import annotations

import copy
import operator
import os
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from support import Function

from grader.check import assert_parameters, assert_parameters_get_gradients, assert_values, load_weights
from grader.connection.connection import Proxy, connection_of, is_proxy
from grader.connection.raised import raised_by_student
from grader.connection.student import Student
from grader.model import Verdict
from grader.model.endings import WorkerLost
from grader.wire.frames import Unsupported

MODULE = """
import gc, types, weakref
import numpy as np

LIMIT = 3
NUMBERS = [1, 2]

def echo(*args): return list(args)
def same(x): return x
def kinds(*args): return [type(arg).__name__ for arg in args]
def change(x, part, a, numbers, names, chosen):
    part.mul_(2)
    a += 1
    numbers.append(3)
    names["b"] = x
    chosen.discard(1)
def change_and_raise(x):
    x.add_(1)
    raise KeyError("no")
class Odd(ValueError): pass
def raise_odd(): raise Odd("odd")
def leave(): raise SystemExit(3)
def decode(): return b"\\xff".decode()
def is_it(one, other): return one is other

class Counter:
    def __init__(self, start=0):
        self.n, self.items, self.inner = start, ["a", "b", "c"], types.SimpleNamespace(x=torch.ones(2))
    def __call__(self, x): return x + self.n
    def __len__(self): return len(self.items)
    def __getitem__(self, key): return self.items[key]
    def __iter__(self): return iter(self.items)
    def add(self, n):
        self.n += n
        return self.n

def lots():
    n = 0
    while True:
        yield n
        n += 1
def squares(n): return (k * k for k in range(n))
def layer(): return torch.nn.Linear(3, 2)
def forever(): return lots()

alive = weakref.WeakSet()
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 2)
        self.register_buffer("calls", torch.zeros(()))
    def forward(self, x):
        self.calls += 1
        return self.first(x)
class Thing:
    def __init__(self): alive.add(self)
def thing(): return Thing()
def count():
    gc.collect()
    return len(alive)
def draw(): return torch.rand(1).item()
"""

VALUES: list[Any] = [
    *(None, True, 7, 2**80, 1.5, float("inf"), 1j, "text", b"bytes", slice(1, None, 2), ...),
    *(-0.0, [1, [2]], (1, (2,)), {"a": {1: 2}}, {1, 2}, frozenset({3}), (1, [2, {"a": {3, 4}}])),
    *(torch.float32, torch.device("cpu"), torch.Size([2, 3]), np.dtype("f4"), np.float32(1.5)),
]


@pytest.fixture
def student(function: Function) -> Student:
    """The module in a worker."""
    return Student(connection_of(function(MODULE)))


@pytest.fixture
def reference(function: Function) -> Student:
    """The same module as the reference's."""
    return Student(connection_of(function(MODULE, owner="the reference's")))


def test_values_cross(student: Student) -> None:
    """Each kind of value arrives as what it is, and comes back equal and of its type."""
    assert student.kinds(*VALUES) == [type(value).__name__ for value in VALUES]
    back = student.echo(*VALUES)
    assert repr(back) == repr(VALUES)
    assert [type(value) for value in back] == [type(value) for value in VALUES]
    assert (student.LIMIT, student.NUMBERS) == (3, [1, 2])
    student.NUMBERS = (5,)
    assert student.NUMBERS == (5,)
    assert student.echo() == []
    x, a = student.echo(torch.ones(2, 3).t(), np.arange(6)[::-2])
    assert (x.stride(), a.strides, a.tolist()) == ((1, 3), (-16,), [5, 3, 1])


def test_changes_arrive(student: Student) -> None:
    """What student code does to its arguments is done here, also to a part of one, and if it raises afterwards."""
    x, a, numbers, chosen = torch.ones(2), np.zeros(2), [1], {1, 2}
    names: dict[str, Any] = {"a": 1}
    student.change(x, x[1:], a, numbers, names, chosen)
    assert (x.tolist(), a.tolist(), numbers, chosen) == ([1, 2], [1, 1], [1, 3], {2})
    assert names["b"] is x
    with pytest.raises(KeyError, match="no"):
        student.change_and_raise(x)
    assert x.tolist() == [2, 3]
    # What student code does later to what it kept is not seen: no memory is shared.
    counter, x = student.Counter(), torch.zeros(2)
    counter.inner = x
    counter.inner.add_(1)
    x.add_(5)
    assert counter.inner.tolist() == [0, 0]


def test_exceptions_are_plain(student: Student) -> None:
    """Raised again as the nearest builtin type, marked as coming from the call; none of them ends the check."""
    for name, kind, text in (
        ("raise_odd", ValueError, "odd"),
        ("leave", RuntimeError, "3"),
        ("decode", ValueError, "invalid start byte"),
    ):
        with pytest.raises(kind, match=text) as caught:
            getattr(student, name)()
        assert type(caught.value) is kind
        raised = raised_by_student(caught.value)
        assert raised is not None
        assert raised.what == f"your `{name}`"
    assert raised_by_student(ValueError()) is None
    with pytest.raises(TypeError, match="unexpected keyword"):
        student.same(y=1)


def test_six_operations(student: Student) -> None:
    """Get and set an attribute, call, get an item, get the length, iterate: all else is a proxy's own."""
    counter = student.Counter(start=2)
    assert is_proxy(counter)
    assert repr(counter) == "<proxy of Counter>"
    assert (counter.n, counter.add(3), counter.n, counter(1)) == (2, 5, 5, 6)
    counter.n = 10
    assert counter.n == 10
    assert (len(counter), counter[1], counter[-1], list(counter)) == (3, "b", "c", ["a", "b", "c"])
    assert [*student.squares(4)] == [0, 1, 4, 9]
    assert is_proxy(counter.inner)
    assert counter.inner.x.tolist() == [1, 1]
    with pytest.raises(AttributeError, match="nothing"):
        counter.nothing  # noqa: B018
    with pytest.raises(IndexError):
        counter[7]
    with pytest.raises(ValueError, match="more than 10,000 items"):
        list(student.forever())
    with pytest.raises(
        TypeError, match="compare it by `assert_values`, which fails for such an object; or write a probe"
    ):
        counter == 3  # noqa: B015
    with pytest.raises(TypeError, match="lives in another process: write a probe"), counter:
        pass


def test_a_layer_and_its_parameters(student: Student) -> None:
    """Parameters come as values, detached; the layer itself stays, and is the same object when it is sent again."""
    layer = student.layer()
    weight, bias = layer.parameters()
    assert (weight.shape, bias.shape, weight.requires_grad) == ((2, 3), (2,), False)
    assert torch.allclose(layer(torch.ones(1, 3)), weight.sum(1) + bias)
    assert student.same(layer) is layer
    assert student.is_it(layer, layer) is True
    assert student.is_it(layer, student.layer()) is False


def test_a_module_is_used_through_its_proxy(student: Student, reference: Student) -> None:
    """It learns beside student code, and takes the reference's weights."""
    net, other = student.Net(), reference.Net()
    assert_parameters(net, {"first.weight": (2, 3), "first.bias": (2,)}, buffers={"calls": ()}, dtype=torch.float32)
    assert_parameters_get_gradients(net, torch.randn(5, 3))
    load_weights(net, other)
    x = torch.randn(4, 3)
    assert_values(net(x), other(x))
    assert dict(iter(net.named_parameters()))["first.weight"].shape == (2, 3)
    assert net.eval() is net
    assert net.training is False


OTHER_USES: dict[str, Callable[[Any], Any]] = {
    "bool": bool,
    "eq": lambda it: it == 1,
    "lt": lambda it: it < 1,
    "contains": lambda it: 1 in it,
    "add": lambda it: it + 1,
    "int": int,
    "float": float,
    "index": lambda it: [1, 2][it],
    "setitem": lambda it: operator.setitem(it, 0, 1),
    "delitem": lambda it: operator.delitem(it, 0),
    "delattr": lambda it: delattr(it, "n"),
    "with": lambda it: it.__enter__(),
    "next": next,
    "array": np.asarray,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "reversed": reversed,
    "path": os.fspath,
    "pickle": pickle.dumps,
    "tensor plus it": lambda it: torch.ones(2) + it,
}


def test_every_other_use_names_the_probe(student: Student) -> None:
    """One error of one sentence, which says where to write it instead."""
    counter = student.Counter()
    for name, use in OTHER_USES.items():
        with pytest.raises(TypeError, match="write a probe, a function that runs beside student code") as caught:
            use(counter)
        text = str(caught.value)
        assert text.count(".") == text.count("...") * 3, name


def test_objects_of_the_check_do_not_cross(student: Student) -> None:
    """Neither functions nor objects nor generators: they are made in a probe."""
    for value in (lambda: 1, object(), iter([1]), torch.nn.Linear(1, 1), torch.Generator(), Proxy):
        for given in (value, [value]):
            with pytest.raises(Unsupported, match="write a probe, a function that runs beside student code"):
                student.same(given)
    with pytest.raises(Unsupported, match="cannot send an array of text to student code: send a list of str, or write"):
        student.same(np.array(["a"]))


def test_objects_are_dropped_with_their_proxies(student: Student) -> None:
    """What a check holds no proxy of any more, the worker forgets."""
    kept = [student.thing() for _ in range(3)]
    for _ in range(30):
        student.thing()
    assert student.count() <= 4
    del kept[1:]
    student.LIMIT  # noqa: B018  the next request says what was dropped
    assert student.count() == 1


def test_a_proxy_of_a_worker_that_ended(student: Student) -> None:
    """Nothing of another worker takes its place, though it had the same number there."""
    counter = student.Counter()
    connection_of(counter).close()
    assert is_proxy(student.Counter())
    uses: tuple[Callable[[], Any], ...] = (lambda: counter.add(1), lambda: counter.n, lambda: student.same(counter))
    for use in uses:
        with pytest.raises(RuntimeError, match="its worker has ended"):
            use()
    assert repr([counter, student.Counter]) == "[<proxy of Counter>, Counter]"


def test_what_is_of_two_processes_is_refused(student: Student, reference: Student) -> None:
    """No object of one worker is taken for another's, at any depth."""
    mine, theirs = student.Counter(), reference.Counter()
    for use in (
        lambda: student.Counter(theirs),
        lambda: student.Counter([{"a": theirs}]),
        lambda: mine.add(reference.same),
        lambda: mine[theirs],
        lambda: setattr(mine, "items", theirs),
    ):
        with pytest.raises(Unsupported, match="belongs to another process"):
            use()
    assert list(mine) == ["a", "b", "c"]


def test_the_context_of_a_check_does_not_cross(student: Student) -> None:
    """Neither seeds nor modes: a worker draws from a seed of the check's record."""
    torch.manual_seed(1)
    first = student.draw()
    torch.manual_seed(1)
    assert student.draw() != first


LIES = """
import sys
frames = sys.modules["grader.wire.frames"]
send = frames.Channel.send

def lie(change):
    def sent(self, number, tree, data=(), patience=None):
        frames.Channel.send = send
        tree = dict(tree)
        data = change(tree, data) or data
        return send(self, tree.pop("number", number), tree, data)
    frames.Channel.send = sent

def total(x):
    lie({change})
    return x + 1
"""
CHANGES = [
    "lambda tree, data: tree.update(roots=[])",
    "lambda tree, data: tree.update(roots=[1, 2])",
    "lambda tree, data: tree.update(roots=[['proxy', -1, 'x']])",
    "lambda tree, data: tree.update(rows=None)",
    "lambda tree, data: tree.update(error=5)",
    "lambda tree, data: tree.update(error={'builtin': 'print', 'lines': []})",
    "lambda tree, data: tree.update(error={'builtin': 'ValueError', 'lines': [['a', 1, 'f', '']] * 60})",
    "lambda tree, data: tree.update(number=77)",
    "lambda tree, data: [b'']",
    "lambda tree, data: [*data, bytes(64)]",
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_lie_of_a_worker_is_its_end(function: Function, change: str) -> None:
    """A reply that breaks a rule of the protocol costs the worker: the check ends as crashed, whatever it catches."""
    total = function(LIES.replace("{change}", change))
    x = torch.ones(3)
    with pytest.raises(WorkerLost) as caught:
        total(x)
    assert caught.value.verdict is Verdict.CRASHED
    assert connection_of(total).record.lost is caught.value
    assert x.tolist() == [1, 1, 1]
