"""What a check process keeps of what student code returned, and for how long."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from support import Function

from grader.remote.handle import side_of
from grader.remote.student import RemoteFunction

MODULE = """
import numpy as np
import torch

def plus(x): return x + 1
def turned(x): return x.T
def array(x): return np.ones(3)[1:]
def several(x): return x + 1, np.zeros((2, 2)), [x * 2]
def layer(): return torch.nn.Linear(3, 2)
"""
KEPT = torch.arange(6.0).reshape(2, 3)


@pytest.fixture
def of(function: Function) -> Callable[[str], RemoteFunction]:
    """The functions of the module, by name."""
    side = side_of(function(MODULE))
    return lambda name: RemoteFunction(side, name)


@pytest.mark.parametrize("name", ["plus", "turned", "array", "several"])
@pytest.mark.parametrize("make", [lambda: KEPT, lambda: KEPT + 1], ids=["the same", "a new one"])
def test_a_loop_keeps_nothing(of: Callable[[str], RemoteFunction], name: str, make: Callable[[], torch.Tensor]) -> None:
    """What a check drops is forgotten, so that the hundredth call costs what the first did."""
    called = of(name)
    exchange = side_of(called).exchange
    sizes = []
    for count in (3, 30):
        for _ in range(count):
            called(make())
        sizes.append((len(exchange.known), len(exchange.containers), len(exchange.blocks), len(exchange.held)))
    assert sizes[0] == sizes[1]


def test_the_parameters_of_a_layer_are_kept_once(of: Callable[[str], RemoteFunction]) -> None:
    """However often a check looks at them, and trains."""
    layer = of("layer")()
    exchange = side_of(layer).exchange
    sizes = []
    for count in (3, 30):
        for _ in range(count):
            layer(KEPT + layer.weight.sum()).sum().backward()
        sizes.append(len(exchange.known))
    assert sizes[0] == sizes[1]


def test_a_window_on_its_memory_keeps_a_tensor(of: Callable[[str], RemoteFunction]) -> None:
    """What a check writes through a detached tensor or an array reaches the layer, many calls after it was taken."""
    layer, x = of("layer")(), torch.ones(1, 3)
    weight, bias = layer.weight.detach(), layer.bias.data
    first_row, storage = layer.weight.data[0].numpy(), layer.bias.untyped_storage()
    for _ in range(10):
        layer(x)
    weight.fill_(1.0)
    bias.zero_()
    assert layer(x).tolist() == [[3.0, 3.0]]
    first_row[:] = 0
    assert layer(x).tolist() == [[0.0, 3.0]]
    del bias
    for _ in range(10):
        layer(x)
    torch.empty(0).set_(storage, 0, (2,), (1,)).fill_(5.0)
    assert layer(x).tolist() == [[5.0, 8.0]]
