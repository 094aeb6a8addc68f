"""What a worker says of its tensors besides their numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from wire.pair import Pair, same

from grader.wire.decode import copies
from grader.wire.facts import facts_of


def test_requires_grad_is_sent() -> None:
    """The worker gets leaves that require gradients as the check's do; what it returns is detached, with facts."""
    x = torch.ones(2, requires_grad=True)
    seen = []

    def double(x: torch.Tensor) -> torch.Tensor:
        seen.append((x.requires_grad, x.is_leaf))
        return x * 2

    y = Pair().call(double, x)
    assert seen == [(True, True)]
    facts = facts_of(y)
    assert (facts.requires_grad, facts.is_leaf, facts.grad_fn) == (True, False, "MulBackward0")
    assert not y.requires_grad
    assert not facts_of(Pair().call(lambda: torch.ones(1))).requires_grad


def test_gradients_do_not_cross() -> None:
    """A gradient is no part of a tensor's value: neither one of the check's nor one that the worker computes."""
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.ones(2)

    def backward(x: torch.Tensor) -> bool:
        had_one = x.grad is not None
        (x * 3).sum().backward()
        return had_one

    assert Pair().call(backward, x) is False
    assert x.grad.tolist() == [1, 1]


def test_writes_in_place_are_counted() -> None:
    """Over all calls of a check, and whatever is written: a write of the same numbers is one, too."""
    pair = Pair()
    x = torch.zeros(3)
    assert pair.call(lambda x: x, x) is x
    assert facts_of(x).version == 0
    for count in (1, 2):
        pair.call(lambda x: x.zero_(), x)
        assert facts_of(x).version == count


@pytest.mark.parametrize("context", [lambda: torch.device("meta"), torch.inference_mode, torch.no_grad])
def test_a_default_device_or_mode_does_not_matter(context: Callable[[], Any]) -> None:
    """Values travel under a default device, inference mode or no_grad as they do without."""
    x = torch.arange(3.0)
    with context():
        y = Pair().call(lambda x: x, x)
        z = Pair().call(lambda: copies(x)[0])
    assert y is x
    assert same(z, x)
