"""`each`: several calls with one message, with what a loop over single calls would give."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import redirect_stdout

import numpy as np
import pytest
import torch
from support import Function

from grader.check import CannotJudge, each
from grader.model.endings import WorkerLost
from grader.remote.handle import side_of
from grader.remote.student import RemoteFunction
from grader.remote.worker import Worker

MODULE = """
import time
import numpy as np

calls = 0
buffer = torch.zeros(2)
rows = []

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
    return x.mul_(2)

def busy(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
    return seconds

def ends(x):
    if x == 3:
        os._exit(1)
    return x

def remembered(x):
    rows.append(x)
    rows[0] += 1
    return len(rows)

def says(x):
    print("x is", x)
    return x

def written(x):
    x.add_(1)
    return x

class Adder:
    def __init__(self, n):
        self.n = n
    def __call__(self, x):
        return self.n + x
"""


@pytest.fixture
def total(function: Function) -> RemoteFunction:
    """A function of the module, by which its others are reached."""
    return function(MODULE, "count")


def other(function: RemoteFunction, name: str) -> RemoteFunction:
    """Another function of the same worker."""
    return RemoteFunction(side_of(function), name)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kinds of requests that workers are sent from now on."""
    kinds: list[str] = []
    send = Worker.send

    def noted(self: Worker, asked, *rest, **named):  # type: ignore[no-untyped-def]
        kinds.append(type(asked.request).__name__)
        send(self, asked, *rest, **named)

    monkeypatch.setattr(Worker, "send", noted)
    return kinds


def test_answers_come_in_order(total: RemoteFunction, sent: list[str]) -> None:
    """And each call was made once, with a message for many of them."""
    cases = [(number,) for number in range(100)]
    assert list(each(total, cases)) == [(number + 1, number) for number in range(100)]
    assert sent == ["Load", *["CallEach"] * 4]


@pytest.mark.parametrize("count", [0, 1])
def test_few_cases(total: RemoteFunction, count: int) -> None:
    """None is no call, one is a single call."""
    assert list(each(total, iter([(5,)] * count))) == [(1, 5)] * count


def test_what_one_call_raises_is_raised_for_it(total: RemoteFunction) -> None:
    """And then one may go on."""
    answers = each(other(total, "root"), [(4,), (-1,), (9,), (-4,), (16,)])
    assert next(answers) == 2
    with pytest.raises(ValueError, match="no root of -1"):
        next(answers)
    assert next(answers) == 3
    with pytest.raises(ValueError, match="no root of -4"):
        next(answers)
    assert list(answers) == [4]


def test_an_answer_is_as_it_was_when_its_call_ended(total: RemoteFunction) -> None:
    """A function may give the same tensor each time."""
    seen = [answer.tolist() for answer in each(other(total, "filled"), [(number,) for number in range(9)])]
    assert seen == [[number] * 2 for number in range(9)]


def test_answers_that_are_kept(total: RemoteFunction) -> None:
    """They are one tensor then, as with single calls."""
    first, second = each(other(total, "filled"), [(1,), (2,)])
    assert first is second
    assert first.tolist() == [2, 2]


@pytest.mark.parametrize("make", [lambda n: torch.full((3,), n), lambda n: np.full(3, n)], ids=["tensor", "array"])
def test_arguments_change_in_place(total: RemoteFunction, make) -> None:  # type: ignore[no-untyped-def]
    """The check sees it, and the function what it was given."""
    cases = [(make(float(number)),) for number in range(20)]
    name = "doubled_" if isinstance(cases[0][0], torch.Tensor) else "remembered"
    answers = list(each(other(total, name), cases))
    if name == "doubled_":
        assert [float(x[0]) for (x,) in cases] == [2.0 * number for number in range(20)]
        assert all(answer is x for answer, (x,) in zip(answers, cases, strict=True))
    else:
        assert answers == list(range(1, 21))
        assert cases[0][0].tolist() == [20.0] * 3


def test_one_argument_for_all(total: RemoteFunction) -> None:
    """What one call writes, the next one reads."""
    x = torch.zeros(2)
    assert [float(answer[0]) for answer in each(other(total, "written"), [(x,)] * 10)] == list(range(1, 11))


def test_each_call_has_its_time(function: Function) -> None:
    """Not all of them together."""
    busy = function(MODULE, "busy", call_s=1.0)
    assert list(each(busy, [(0.4,)] * 4)) == [0.4] * 4


def test_a_lost_worker_is_met_where_it_was_lost(total: RemoteFunction) -> None:
    """Not before: a check that ends earlier is not told of it."""
    answers = each(other(total, "ends"), [(number,) for number in range(5)])
    assert [next(answers) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(WorkerLost, match="ended Python"):
        next(answers)
    assert next(answers) == 4  # in a new worker


def test_what_a_check_does_not_come_to_is_not_its_loss(total: RemoteFunction) -> None:
    """The worker was lost ahead of it, at a call that nobody has asked about."""
    side = side_of(total)
    answers = each(other(total, "ends"), [(2,), (3,), (2,)])
    assert next(answers) == 2
    assert total("again")[1] == "again"
    assert side.sitting.lost is None
    with pytest.raises(WorkerLost):
        next(answers)
    assert side.sitting.lost is not None


def test_another_call_in_between(total: RemoteFunction) -> None:
    """What was asked for is read first, and kept."""
    answers = each(total, [(number,) for number in range(6)])
    assert next(answers) == (1, 0)
    assert total("between") == (5, "between")
    assert list(answers) == [(2, 1), (3, 2), (4, 3), (6, 4), (7, 5)]


def test_a_new_check_begins(total: RemoteFunction) -> None:
    """With answers left over from the one before."""
    side = side_of(total)
    next(each(total, [(number,) for number in range(30)]))
    side.begin_check(1, recording=False)
    assert total(7) == (5, 7)


def test_only_calls_that_a_check_has_come_to_are_noted(total: RemoteFunction) -> None:
    """With their arguments as they were before."""
    side = side_of(total)
    side.begin_check(1, recording=True)
    cases: Iterator[tuple[torch.Tensor]] = ((torch.full((2,), float(number)),) for number in range(4))
    answers = each(other(total, "doubled_"), cases)
    next(answers)
    next(answers)
    assert [float(call.args[0][0]) for call in side.calls] == [0, 1]
    assert side.called == {"doubled_"}


def test_a_check_that_listens(total: RemoteFunction, sent: list[str]) -> None:
    """Hears each call: they go one by one then."""
    out = io.StringIO()
    with redirect_stdout(out):
        answers = each(other(total, "says"), [(1,), (2,)])
        assert next(answers) == 1
        assert out.getvalue() == "x is 1\n"
        assert list(answers) == [2]
    assert "CallEach" not in sent


def test_an_object_that_can_be_called(total: RemoteFunction) -> None:
    """Is asked one by one: it may be gone with its worker."""
    adder = other(total, "Adder")(5)
    assert list(each(adder, [(1,), (2,)])) == [6, 7]


def test_a_fresh_worker_is_asked_the_same_again(total: RemoteFunction) -> None:
    """All calls of the check, those that were asked for together too, so that an object is made anew there."""
    list(each(total, [(number,) for number in range(6)]))
    fresh = side_of(total).fresh(other(total, "Adder")(5))
    try:
        assert RemoteFunction(fresh, "count")("there") == (7, "there")
    finally:
        fresh.sitting.close()


def test_something_else(total: RemoteFunction) -> None:
    """Only what lives in a worker is asked."""
    with pytest.raises(CannotJudge, match="where a function is asked"):
        each(len, [([1],)])  # type: ignore[arg-type]


def test_large_arguments_go_a_few_at_a_time(total: RemoteFunction, sent: list[str]) -> None:
    """Both ends would have all of them at once."""
    cases = [(torch.zeros(200_000),) for _ in range(4)]
    assert [x.shape[0] for _, x in each(total, cases)] == [200_000] * 4
    assert sent == ["Load", "Call", "Call", "Call", "Call"]


def test_what_requires_a_gradient(function: Function) -> None:
    """Goes on where the check goes backward, after the last call."""
    squares = function("def squares(x):\n    return (x * x).sum()", "squares")
    x = torch.ones(3, requires_grad=True)
    for factor, loss in enumerate(each(squares, [(x,)] * 3), 1):
        loss.backward()
        assert x.grad is not None
        assert x.grad.tolist() == [2.0 * factor] * 3
