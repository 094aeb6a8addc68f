"""What is no value: an object of the worker's stays there, one of the check's is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from wire.pair import Pair, StandIn

from grader.wire.frames import Caps, ProtocolError, Unsupported


class MyTensor(torch.Tensor):
    """A subclass."""


THINGS: dict[str, Callable[[], Any]] = {
    "lambda": lambda: lambda: 1,
    "object": object,
    "class": lambda: Pair,
    "function of PyTorch's": lambda: torch.exp,
    "function of NumPy's": lambda: np.sin,
    "module": lambda: math,
    "layer": lambda: torch.nn.Linear(1, 1),
    "generator": lambda: torch.Generator(),
    "date": lambda: np.datetime64("2020-01-01"),
    "array of text": lambda: np.array(["a"]),
    "array of objects": lambda: np.array([None]),
    "array of records": lambda: np.zeros(2, [("a", "f4")]),
    "masked array": lambda: np.ma.array([1]),
    "range": lambda: range(3),
    "bytearray": lambda: bytearray(b"ab"),
    "storage": lambda: torch.zeros(1).untyped_storage(),
    "layout": lambda: torch.strided,
    "tensor without memory": lambda: torch.zeros(2, device="meta"),
    "sparse tensor": lambda: torch.eye(2).to_sparse(),
    "subclass of tensors": lambda: torch.ones(2).as_subclass(MyTensor),
    "lazy float8": lambda: torch._neg_view(torch.ones(2).to(torch.float8_e5m2)),
    "quantized tensor": lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8),
}


@pytest.mark.parametrize("name", THINGS)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
def test_what_is_not_a_value_does_not_cross(name: str) -> None:
    """A check cannot send it; of a worker's it gets something that stands for it, and is that object there."""
    thing, pair = THINGS[name](), Pair()
    with pytest.raises(Unsupported):
        pair.call(lambda value: None, [thing])
    (ours,) = pair.call(lambda: [thing])
    assert isinstance(ours, StandIn)
    assert ours.kind == type(thing).__name__
    assert pair.call(lambda value: value[0] is thing, [ours]) is True


def nested(depth: int, inner: Any) -> Any:
    for _ in range(depth):
        inner = [inner]
    return inner


def cyclic() -> list[Any]:
    box: list[Any] = [1]
    box.append({"box": (box,)})
    return box


def laughs(depth: int) -> Any:
    box: Any = (1, 2)
    for _ in range(depth):
        box = (box, box)
    return box


TOO_MUCH: dict[str, Callable[[], Any]] = {
    "a cyclic list": cyclic,
    "too deep nesting": lambda: nested(100, 1),
    "billion laughs": lambda: laughs(30),
    "a huge int": lambda: 1 << (1 << 20),
    "a huge expanded tensor": lambda: torch.zeros(1).expand(1 << 40),
    "a huge broadcast array": lambda: np.broadcast_to(np.zeros(1), (1 << 40,)),
    "too many dimensions": lambda: torch.zeros([1] * 70),
    "too many objects": lambda: [[] for _ in range(100_001)],
    "too much memory": lambda: torch.zeros(3 << 20),
}


OURS = {"a cyclic list", "too deep nesting", "billion laughs", "a huge int", "too many objects", "too much memory"}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_what_is_too_much_is_refused(name: str) -> None:
    """In either direction there is an error of the wire's; of an author's mistake, before the worker sees it."""
    value, caps = TOO_MUCH[name](), Caps(objects=5000, data_bytes=10 << 20)
    with pytest.raises(Unsupported if name in OURS else (Unsupported, ProtocolError)):
        Pair(caps).call(lambda value: None, value)
    with pytest.raises((Unsupported, ProtocolError)):
        Pair(caps).call(lambda: value)


def test_a_worker_that_makes_a_cycle_of_an_argument_is_refused() -> None:
    """A list of ours that holds itself after a call is not made here."""
    box: list[Any] = [1]
    with pytest.raises(ProtocolError, match="contains itself"):
        Pair().call(lambda box: box.append(box), box)
    assert box == [1]
