"""What is dropped is forgotten at both ends; what is held stays known."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from wire.pair import Pair, linked, travel

from grader.wire.exchange import Exchange
from grader.wire.incoming import Incoming
from grader.wire.outgoing import Outgoing


def sizes(exchange: Exchange) -> list[int]:
    return [len(exchange.known), len(exchange.numbers), len(exchange.blocks), len(exchange.containers)]


@pytest.mark.parametrize(
    ("make", "function"),
    [
        (lambda: torch.zeros(3), lambda x: x),
        (lambda: torch.zeros(3), lambda x: x + 1),
        (lambda: torch.zeros(3), lambda x: x.numpy()[1:]),
        (lambda: np.zeros(3), lambda a: a),
        (lambda: np.zeros(3), lambda a: a[::-1]),
        (lambda: np.zeros(3), lambda a: torch.from_numpy(a)),
        (lambda: np.zeros(3), lambda a: torch.from_numpy(a[1:])),
        (lambda: (a := np.zeros(3), torch.from_numpy(a)), lambda both: both[1]),
        (lambda: [torch.zeros(3)], lambda x: [x, {"a": x[0][1:]}, {1}]),
        (lambda: torch.zeros(3, requires_grad=True), lambda x: (x * 2).sum().backward()),
        (lambda: 1, lambda x: object()),
        (lambda: 1, lambda x: [torch.ones(3), np.ones(3)]),
    ],
)
def test_dropped_objects_are_forgotten(make: Callable[[], Any], function: Callable[..., Any]) -> None:
    """Over 200 calls with new arguments and results, neither end's tables grow, and the memory is given back."""
    pair = Pair()
    for _ in range(3):
        pair.call(function, make())
    before = sizes(pair.asks), sizes(pair.answers)
    for _ in range(200):
        pair.call(function, make())
    gc.collect()
    pair.call(lambda: None)
    pair.call(lambda: None)
    assert sizes(pair.asks) <= before[0]
    assert sizes(pair.answers) <= before[1]
    assert sizes(pair.asks)[0] == sizes(pair.answers)[0] == 0
    assert sizes(pair.asks)[2] == 0


def test_a_view_keeps_its_array_known() -> None:
    """While a view of an array lives here, the worker's memory for it stays the same, though the array is dropped."""
    pair, stored = Pair(), []
    a = np.zeros(4)
    view = a[1:]
    pair.call(lambda a, view: stored.append(a), a, view)
    del a
    view[:] = 1
    pair.call(lambda: None)
    assert pair.call(lambda view: (stored[0].tolist(), linked(stored[0], view)), view) == ([0, 1, 1, 1], True)


def test_one_of_two_owners_of_memory_may_go() -> None:
    """When a tensor made of an array is dropped, the array stays the one that the worker knows, and the other way."""
    pair, stored = Pair(), []
    a = np.zeros(4)
    tensor = torch.from_numpy(a)
    pair.call(lambda a, tensor: stored.append((a, tensor)), a, tensor)
    del tensor
    a[:] = 1
    assert pair.call(lambda a: (a is stored[0][0], a.tolist()), a) == (True, [1, 1, 1, 1])
    pair.call(lambda a: a.fill(2), a)
    assert a.tolist() == [2, 2, 2, 2]


def test_a_reset_begins_anew_at_both_ends() -> None:
    """After a reset nothing is known any more, and the worker drops what it held with the next message."""
    pair = Pair()
    x = torch.zeros(2)
    pair.call(lambda x: x, x)
    pair.asks.reset()
    pair.call(lambda: None)
    assert sizes(pair.asks) == sizes(pair.answers) == [0, 0, 0, 0]
    assert pair.call(lambda x: x.add_(1), x) is x
    assert x.tolist() == [1, 1]


def test_an_object_that_dies_while_the_worker_works_does_no_harm() -> None:
    """What the garbage collector would take during a call is still there when the worker returns it."""
    pair = Pair()
    asks, answers = pair.asks, pair.answers
    x = torch.zeros(2)
    stored: list[torch.Tensor] = []
    pair.call(stored.append, x)
    out = Outgoing(asks)
    told, data = travel(*out.finish(), [])
    del x
    gc.collect()
    Incoming(answers, told["objects"], data)
    reply = Outgoing(answers)
    item = reply.value(stored[0])
    told, data = travel(*reply.finish(), [item])
    assert Incoming(asks, told["objects"], data).value(told["values"][0]).tolist() == [0, 0]
