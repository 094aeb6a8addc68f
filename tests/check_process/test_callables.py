"""Anything that can be called is a function: a cached one, a partial one, an instance, a module."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support import Function

from grader.check import (
    assert_costs_at_most,
    assert_cpu_time_ratio,
    assert_no_loop,
    assert_stays_in_torch,
    count_ops,
    gradients,
)

PLAIN = "def plain(x):\n    return (x * x).sum()\n"

WAYS = {
    "cached": PLAIN + "import functools\ntotal = functools.lru_cache(plain)\n",
    "partial": "import functools\ndef plain(p, x):\n    return (x ** p).sum()\ntotal = functools.partial(plain, 2)\n",
    "instance": PLAIN + "class Total:\n    def __call__(self, x):\n        return plain(x)\ntotal = Total()\n",
    "module": PLAIN
    + "class Total(torch.nn.Module):\n    def forward(self, x):\n        return plain(x)\ntotal = Total()\n",
    "method": PLAIN + "class Holder:\n    def total(self, x):\n        return plain(x)\ntotal = Holder().total\n",
    "lambda": "total = lambda x: (x * x).sum()\n",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_callable_is_called_counted_and_differentiated(function: Function, way: str) -> None:
    """Values, counts and gradients are those of a function, and so is the time, in fresh workers."""
    total = function(WAYS[way])
    x = torch.arange(4.0)
    assert float(total(x)) == 14.0
    assert count_ops(total, torch.arange(5.0)).total() in (2, 3)  # a new argument: a cached function knows the other
    assert_no_loop(total, (torch.ones(8),), (torch.ones(80),))
    assert_costs_at_most(total, (x,), escapes=0)
    assert_stays_in_torch(total, x)
    (grad,) = gradients(total, x)
    assert grad is not None
    assert torch.equal(grad, 2 * x)
    if way in ("cached", "module"):
        theirs = function("def total(x):\n    return (x * x).sum()\n", owner="the reference's")
        how: dict[str, Any] = {"size": 100_000, "at_most": 50, "rtol": 1e-3, "atol": 1e-3}
        assert assert_cpu_time_ratio(total, theirs, lambda n: (torch.randn(n),), **how).below


def test_a_value_is_still_a_value(function: Function) -> None:
    """What cannot be called is no function."""
    with pytest.raises(TypeError, match="not callable"):
        function("total = 3\n")()
