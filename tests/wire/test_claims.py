"""Gradients, and what a worker claims of its tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from wire.pair import Pair, same

from grader.wire.claimed import claims_of
from grader.wire.incoming import copies


def test_requires_grad_is_handed_over() -> None:
    """The worker gets leaves that require gradients as the check's do, and what it returns is detached with claims."""
    x = torch.ones(2, requires_grad=True)
    seen = []

    def double(x: torch.Tensor) -> torch.Tensor:
        seen.append((x.requires_grad, x.is_leaf))
        return x * 2

    y = Pair().call(double, x)
    assert seen == [(True, True)]
    claims = claims_of(y)
    assert claims is not None
    assert (claims.requires_grad, claims.is_leaf, claims.grad_fn) == (True, False, "MulBackward0")
    assert not y.requires_grad
    assert claims_of(torch.ones(1)) is None


def test_gradients_are_told() -> None:
    """A gradient that the worker computes is in `.grad` here; one that we had is there; and one set to None is gone."""
    pair = Pair()
    x = torch.ones(2, requires_grad=True)
    pair.call(lambda x: (x * 3).sum().backward(), x)
    assert x.grad is not None
    assert x.grad.tolist() == [3, 3]
    gradient = x.grad
    pair.call(lambda x: (x * 3).sum().backward(), x)
    assert x.grad is gradient
    assert x.grad.tolist() == [6, 6]
    assert pair.call(lambda x: x.grad, x) is gradient
    pair.call(lambda x: setattr(x, "grad", None), x)
    assert pair.call(lambda x: x.grad is None, x)
    assert getattr(x, "grad") is None  # noqa: B009  as an attribute, mypy takes it for what it was before the call
    x.grad = torch.zeros(2)
    assert pair.call(lambda x: x.grad.tolist(), x) == [0, 0]
    x.grad = None
    assert pair.call(lambda x: x.grad is None, x)


def test_a_sparse_gradient_stays_in_the_worker() -> None:
    """A gradient of a layout that cannot be handed over does not make the reply invalid."""
    weight = torch.ones(3, 2, requires_grad=True)

    def look_up(weight: torch.Tensor) -> float:
        torch.nn.functional.embedding(torch.tensor([1]), weight, sparse=True).sum().backward()
        return 1.0

    assert Pair().call(look_up, weight) == 1.0
    assert weight.grad is None


@pytest.mark.parametrize("context", [lambda: torch.device("meta"), torch.inference_mode, torch.no_grad])
def test_a_default_device_or_mode_does_not_matter(context: Callable[[], Any]) -> None:
    """Values travel under a default device, inference mode or no_grad as they do without."""
    x = torch.arange(3.0)
    with context():
        y = Pair().call(lambda x: x, x)
        z = Pair().call(lambda x: copies(x)[0], x)
    assert y is x
    assert same(z, x)
