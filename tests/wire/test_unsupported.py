"""What cannot be handed over is refused by our own end, and leaves nothing half known."""

from __future__ import annotations

import contextlib
import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from wire.pair import Handle, Pair, same

from grader.wire.frames import Caps, Unsupported


def nested(depth: int, inner: Any) -> Any:
    for _ in range(depth):
        inner = [inner]
    return inner


def cyclic() -> list[Any]:
    box: list[Any] = [1]
    box.append({"box": (box,)})
    return box


UNSUPPORTED: dict[str, Callable[[], Any]] = {
    "a cyclic list": cyclic,
    "too deep nesting": lambda: nested(100, 1),
    "billion laughs": lambda: laughs(30),
    "too deep slices": lambda: slices(5000),
    "a huge int": lambda: 1 << (1 << 20),
    "a huge expanded tensor": lambda: torch.zeros(1).expand(1 << 40),
    "a huge broadcast array": lambda: np.broadcast_to(np.zeros(1), (1 << 40,)),
    "too many dimensions": lambda: torch.zeros([1] * 70),
    "too many objects": lambda: [()] + [[] for _ in range(5001)],
    "a large set": lambda: set(range(100_001)),
    "a large dict": lambda: dict.fromkeys(range(100_001)),
}


def laughs(depth: int) -> Any:
    box: Any = (1, 2)
    for _ in range(depth):
        box = (box, box)
    return box


def slices(depth: int) -> Any:
    part: Any = slice(1)
    for _ in range(depth):
        part = slice(part)
    return part


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_what_is_too_much_is_unsupported_at_both_ends(name: str) -> None:
    """A value that the other end would refuse is refused by our own, by name, so that nobody is blamed for a fault."""
    value = UNSUPPORTED[name]()
    with pytest.raises(Unsupported):
        Pair(Caps(objects=5000)).call(lambda value: None, value)
    with contextlib.suppress(Unsupported):
        assert isinstance(Pair(Caps(objects=5000)).call(lambda: value), Handle)


@pytest.mark.parametrize(
    "value",
    [lambda: 1, object(), Pair, np.datetime64("2020-01-01"), np.array(["a"]), iter([1])],
    ids=["lambda", "object", "class", "date", "text array", "iterator"],
)
def test_functions_and_objects_of_the_asking_side_are_unsupported(value: Any) -> None:
    """Functions, classes and objects of a check never cross; those of a worker become handles."""
    with pytest.raises(Unsupported):
        Pair().call(lambda value: None, [value])
    handle = Pair().call(lambda: [value])[0]
    assert isinstance(handle, Handle)
    assert handle.claims.type == type(value).__name__
    assert ("__call__" in handle.claims.special) == callable(value)


@pytest.mark.parametrize("thing", [len, int, math.sqrt, torch.exp, torch.nn.ReLU, torch.nn.functional.gelu, np.sin])
def test_public_functions_and_classes_cross_by_name(thing: Any) -> None:
    """From a check to a worker, which has them too; a worker's own become handles."""
    assert Pair().call(lambda value: value[0] is thing, [thing]) is True
    assert isinstance(Pair().call(lambda: [thing])[0], Handle)


@pytest.mark.parametrize("made", [Counter("aab"), OrderedDict(b=1, a=[2.0])])
def test_kinds_of_dicts_stay_what_they_are(made: Any) -> None:
    """With their order, also where the other end changes them."""
    pair = Pair()

    def change(given: Any) -> Any:
        given["new"] = 3
        if isinstance(given, OrderedDict):
            given.move_to_end("b")
        return type(given)(given)

    found = pair.call(change, made)
    assert type(found) is type(made) and list(found.items()) == list(made.items()) and found["new"] == 3


class MyTensor(torch.Tensor):
    """A subclass."""


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.zeros(2, device="meta"),
        lambda: torch.eye(2).to_sparse(),
        lambda: torch.ones(2).as_subclass(MyTensor),
        lambda: torch._neg_view(torch.ones(2).to(torch.float8_e5m2)),
        lambda: np.ma.array([1]),
        lambda: np.zeros(2, "M8[s]"),
        lambda: np.zeros(2, [("a", "f4")]),
        lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
def test_odd_tensors_become_handles(make: Callable[[], Any]) -> None:
    """Tensors and arrays that are not plain memory come back as handles that say why, and cannot be handed over."""
    handle = Pair().call(make)
    assert isinstance(handle, Handle)
    assert handle.claims.text
    with pytest.raises(Unsupported):
        Pair().call(lambda value: None, make())


def test_a_worker_that_makes_a_cycle_of_an_argument_is_unsupported() -> None:
    """A list of ours that holds itself after a call is not made here: the worker says that it cannot be told."""
    box: list[Any] = [1]
    with pytest.raises(Unsupported):
        Pair().call(lambda box: box.append(box), box)
    assert box == [1]
    one, other = [1], [2]

    def knot(one: list[Any], other: list[Any]) -> None:
        one.append([other])
        other.append({"a": one})

    with pytest.raises(Unsupported):
        Pair().call(knot, one, other)


@pytest.mark.parametrize("inside", ["result", "argument"])
def test_a_refused_value_leaves_nothing_half_known(inside: str) -> None:
    """After a message that could not be written, what it would have told of first is handed over by the next."""
    pair = Pair()
    x, theirs = torch.zeros(2), torch.ones(3)
    with pytest.raises(Unsupported):
        if inside == "argument":
            pair.call(lambda *args: None, [x, [2]], cyclic())
        else:
            pair.call(lambda x: [theirs, cyclic()], x)
    result = pair.call(lambda x: [x, theirs, x.tolist()], x)
    assert result[0] is x
    assert same(result[1:], [theirs, [0.0, 0.0]])


def test_a_result_too_large_for_a_message_leaves_nothing_half_known() -> None:
    """After memory that is more than a message may hold, smaller values travel as before."""
    pair = Pair(Caps(data_bytes=1000))
    x, theirs = torch.zeros(2), torch.ones(3)
    with pytest.raises(Unsupported):
        pair.call(lambda x: [x.add_(1), theirs, torch.zeros(1000)], x)
    result = pair.call(lambda x: [x, theirs], x)
    assert result[0] is x
    assert same(result[1], theirs)
    with pytest.raises(Unsupported):
        pair.call(lambda *args: None, x, big := torch.zeros(1000))
    del big
    assert pair.call(lambda x: x, x) is x


def test_many_tensors_take_little_time() -> None:
    """Thousands of separate tensors there and back cost linear time: ten times as many, some ten times as long."""

    def seconds(count: int) -> float:
        values = [torch.tensor(1) for _ in range(count)]
        start = time.process_time()
        result = Pair().call(lambda values: [value.clone() for value in values], values)
        assert len(result) == count
        return time.process_time() - start

    assert seconds(3000) < 40 * min(seconds(300) for _ in range(3))
