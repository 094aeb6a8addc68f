"""`each`: calls that are sent together, with what a loop over single calls would give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from support import Function

from grader.check import each
from grader.connection.process import WorkerProcess
from grader.connection.proxy import Proxy, connection_of, named
from grader.connection.record import Record
from grader.model.endings import WorkerLost
from grader.wire.bounds import Unsupported

MODULE = """
import time
import numpy as np

calls = 0
buffer = torch.zeros(2)
def count(x):
    global calls
    calls += 1
    return calls, x

def root(x):
    if x < 0:
        raise ValueError(f"no root of {x}")
    return x ** 0.5

def filled(x):
    return buffer.fill_(x)

def doubled_(x):
    x *= 2
    return x

def busy(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
    return seconds

def ends(x):
    if x == 3:
        os._exit(1)
    return x

class Adder:
    def __init__(self, n):
        self.n = n
    def __call__(self, x):
        return self.n + x
"""


@pytest.fixture
def total(function: Function) -> Proxy:
    """A function of the module, by which its others are reached."""
    return function(MODULE, "count")


def other(function: Proxy, name: str) -> Proxy:
    """Another function of the same worker."""
    return named(connection_of(function), name)


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is asked from now on, in order."""
    noted: list[str] = []
    ask = WorkerProcess.ask

    def note(worker: WorkerProcess, tree: dict[str, Any], *rest: Any) -> Any:
        noted.append(tree["do"])
        return ask(worker, tree, *rest)

    monkeypatch.setattr(WorkerProcess, "ask", note)
    return noted


def test_results_come_in_order(total: Proxy, events: list[str]) -> None:
    """And each call was made once, several in each message."""
    cases = [(number,) for number in range(100)]
    assert list(each(total, cases)) == [(number + 1, number) for number in range(100)]
    assert set(events) == {"load", "each"}
    assert len(events) <= 10


@pytest.mark.parametrize("count", [0, 1])
def test_few_cases(total: Proxy, count: int) -> None:
    """None is no call, one is a single call."""
    assert list(each(total, iter([(5,)] * count))) == [(1, 5)] * count


def test_what_one_call_raises_is_raised_for_it(total: Proxy) -> None:
    """And then one may go on."""
    answers = each(other(total, "root"), [(4,), (-1,), (9,), (-4,), (16,)])
    assert next(answers) == 2
    with pytest.raises(ValueError, match="no root of -1"):
        next(answers)
    assert next(answers) == 3
    with pytest.raises(ValueError, match="no root of -4"):
        next(answers)
    assert list(answers) == [4]


def test_an_answer_is_as_it_was_when_its_call_ended(total: Proxy) -> None:
    """A function may give the same tensor each time."""
    seen = [answer.tolist() for answer in each(other(total, "filled"), [(number,) for number in range(9)])]
    assert seen == [[number] * 2 for number in range(9)]


@pytest.mark.parametrize("make", [lambda n: torch.full((3,), n), lambda n: np.full(3, n)], ids=["tensor", "array"])
def test_arguments_change_in_place(total: Proxy, make) -> None:  # type: ignore[no-untyped-def]
    """The check sees it, and the function what it was given."""
    cases = [(make(float(number)),) for number in range(20)]
    answers = list(each(other(total, "doubled_"), cases))
    assert [float(x[0]) for (x,) in cases] == [2.0 * number for number in range(20)]
    assert all(answer is x for answer, (x,) in zip(answers, cases, strict=True))


def test_each_call_has_its_time(function: Function) -> None:
    """Not all of them together."""
    busy = function(MODULE, "busy", call_s=1.0)
    assert list(each(busy, [(0.4,)] * 4)) == [0.4] * 4


def test_a_lost_worker_is_met_where_it_was_lost(total: Proxy) -> None:
    """Not before: a check that ends earlier is not told of it."""
    answers = each(other(total, "ends"), [(number,) for number in range(5)])
    assert [next(answers) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(WorkerLost, match="ended Python"):
        next(answers)
    assert next(answers) == 4  # in a new worker


def test_what_a_check_does_not_come_to_is_not_its_loss(total: Proxy) -> None:
    """The worker was lost ahead of it, at a call that nobody has asked about."""
    connection = connection_of(total)
    answers = each(other(total, "ends"), [(2,), (3,), (2,)])
    assert next(answers) == 2
    assert total("again")[1] == "again"
    assert connection.record.lost is None
    with pytest.raises(WorkerLost):
        next(answers)
    assert connection.record.lost is not None


def test_another_call_in_between(total: Proxy) -> None:
    """It finds what the worker has after the calls that were sent together."""
    answers = each(other(total, "root"), [(number * number,) for number in range(6)])
    assert next(answers) == 0
    assert total("between")[1] == "between"
    assert list(answers) == [1, 2, 3, 4, 5]


def test_a_new_check_begins(total: Proxy) -> None:
    """With answers left over from the one before."""
    next(each(total, [(number,) for number in range(30)]))
    connection_of(total).begin_check(Record())
    assert total(7) == (5, 7)


def test_calls_are_noted(total: Proxy) -> None:
    """With their arguments as they were before."""
    connection = connection_of(total)
    connection.begin_check(Record(recording=True))
    cases: Iterator[tuple[torch.Tensor]] = ((torch.full((2,), float(number)),) for number in range(4))
    list(each(other(total, "doubled_"), cases))
    assert [float(call.args[0][0]) for call in connection.record.calls] == [0, 1, 2, 3]
    assert connection.record.called == {"doubled_"}


def test_an_object_that_can_be_called(total: Proxy) -> None:
    """Is called in the same way."""
    adder = other(total, "Adder")(5)
    assert list(each(adder, [(1,), (2,)])) == [6, 7]


def test_something_else(total: Proxy) -> None:
    """Only what lives in a worker is called."""
    with pytest.raises(Unsupported, match="a function of the student's is expected"):
        each(len, [([1],)])  # type: ignore[arg-type]


def test_large_arguments_go_one_at_a_time(total: Proxy, events: list[str]) -> None:
    """Both processes would have all of them at once."""
    cases = [(torch.zeros(200_000),) for _ in range(4)]
    assert [x.shape[0] for _, x in each(total, cases)] == [200_000] * 4
    assert events == ["load", *["call"] * 4]
