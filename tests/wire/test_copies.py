"""Copies, and the originals that a reference is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from wire.pair import Pair, linked, quietly, same

from grader.wire.frames import ProtocolFault
from grader.wire.incoming import Incoming, copies
from grader.wire.outgoing import Outgoing


def test_copies_share_as_the_values_do() -> None:
    """Copies keep identity and sharing among themselves and have nothing in common with the values."""
    x = torch.arange(4.0)
    one, other, box = copies(x, x[1:], [x, x.numpy()])
    assert box[0] is one
    assert linked(one, other)
    assert linked(box[1], one)
    assert x.tolist() == [0, 1, 2, 3]


def change_all(x: torch.Tensor, a: np.ndarray, box: list[Any], names: dict[str, int], chosen: set[int]) -> None:
    x.add_(1)
    a += 1
    box.append(5)
    names["new"] = 1
    chosen.clear()


@pytest.mark.parametrize("calls", [1, 2])
def test_copies_of_the_originals(calls: int) -> None:
    """`originals=` gives the values as they were before the worker changed them, however often it was called."""
    pair = Pair()
    x, a, names, chosen = torch.zeros(3), np.zeros(3), {"a": 1}, {1, 2}
    box: list[Any] = [torch.ones(1)]
    for _ in range(calls):
        pair.call(change_all, x, a, box, names, chosen)
    before = copies(x, a, box, names, chosen, x[1:], originals=pair.asks)
    assert same(before, (torch.zeros(3), np.zeros(3), [torch.ones(1)], {"a": 1}, {1, 2}, torch.zeros(3)[1:]))
    assert x.tolist() == [calls] * 3
    assert len(box) == 1 + calls
    x.fill_(7)
    box.append(8)
    later = copies(x, box, originals=pair.asks)
    assert later[0].tolist() == [7, 7, 7]
    assert len(later[1]) == 2 + calls


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.unsqueeze_(0),
        lambda x: x.t_(),
        lambda x: x.resize_(9).fill_(5),
        lambda x: setattr(x, "data", torch.ones(1)),
        lambda x: setattr(x.add_(1), "data", torch.ones(1)),
        lambda x: x.squeeze_().zero_(),
    ],
)
def test_copies_of_the_originals_have_their_geometry(change: Callable[[torch.Tensor], Any]) -> None:
    """`originals=` undoes a changed shape or storage, not only changed elements."""
    pair = Pair()
    x = torch.arange(4.0).reshape(1, 4)
    before = x.clone()
    pair.call(quietly(change), x)
    assert same(copies(x, [x], originals=pair.asks), (before, [before]))
    pair.call(lambda: None)
    (first, box) = copies(x, [x], originals=pair.asks)
    assert same(first, before)
    assert box[0] is first


def test_copies_of_the_originals_have_their_gradients() -> None:
    """`originals=` undoes a gradient that the worker computed: a reference must not add to it."""
    pair = Pair()
    x = torch.ones(2, requires_grad=True)
    pair.call(lambda x: (x * 3).sum().backward(), x)
    assert x.grad is not None
    (copy,) = copies(x, originals=pair.asks)
    assert copy.requires_grad
    assert copy.grad is None
    x.grad = torch.ones(2)
    pair.call(lambda x: (x * 3).sum().backward(), x)
    (copy,) = copies(x, originals=pair.asks)
    assert copy.grad.tolist() == [1, 1]
    assert x.grad.tolist() == [4, 4]


def test_a_worker_cannot_choose_the_originals() -> None:
    """A message that changes one list twice cannot pass its own first version off as the original."""
    pair = Pair()
    box = [1]
    out = Outgoing(pair.asks)
    name: Any = out.value(box)
    out.finish()
    rows = [[name[1], ["list", [66]]], [name[1], ["list", [77]]]]
    with pytest.raises(ProtocolFault):
        Incoming(pair.asks, {"new": [], "changed": rows, "blocks": []}, memoryview(bytearray()))
    assert copies(box, originals=pair.asks) == ([1],)
