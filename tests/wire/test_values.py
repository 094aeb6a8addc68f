"""Values arrive as they were, and come back as they were; with tensors come facts."""

from __future__ import annotations

import collections
import enum
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from wire.drawn import EXAMPLES, NESTED, PLAIN, arrays, tensors
from wire.pair import Pair, same, there_and_back

from grader.wire.call import copy_values
from grader.wire.facts import facts_of
from grader.wire.frames import Unsupported

EDGES = [
    *("\ude00\ud83d", "\ud800", "\U0001f600", "a\x00b", ["ref", 0], ["proxy", 1, "x"], {"rows": ["tensor"]}),
    *(slice(np.int64(3), 2**80, None), [slice(1, 2), slice(1, 2)], {1: "int", 1.5: "float", None: "none"}),
    *(np.float64("nan"), np.longdouble("1.5"), [True, 1, 1.0], (), [], {}, set(), {(1, (2, 3)): [4], "a": {5}}),
    *({frozenset({1, (2, 3)}), frozenset()}, torch.Size([]), torch.Size([0, 2**59])),
    *(1j * math.inf, complex(-0.0, math.nan)),
]
"""What JSON, or a careless encoding, would change."""


@example(EDGES)
@given(NESTED | tensors() | arrays())
@settings(EXAMPLES, max_examples=300)
def test_values_survive(value: Any) -> None:
    """A value arrives as it was, and comes back so.

    So do a tensor's dtype, shape, strides, offset, lazy flags, storage size and bits, and an array's byte order and
    read-only flag.
    """
    for arrived in there_and_back(value):
        assert same(value, arrived)


class Point(NamedTuple):
    """A tuple of a class that only this end knows."""

    x: int
    y: int


class Color(enum.IntEnum):
    """An integer of such a class."""

    RED = 3


def test_subclasses_of_plain_values_arrive_as_plain_values() -> None:
    """No class is rebuilt at the other end: there a value has the builtin type that it derives from."""
    text = type("Text", (str,), {})("abc")
    counts = collections.Counter("aab")
    for seen in there_and_back([text, counts, Point(1, 2), np.str_("abc"), Color.RED, collections.OrderedDict(b=1)]):
        assert seen == ["abc", {"a": 2, "b": 1}, (1, 2), "abc", 3, {"b": 1}]
        assert [type(item) for item in seen] == [str, dict, tuple, str, int, dict]


@given(st.lists(tensors() | arrays() | PLAIN, max_size=4), st.data())
@settings(EXAMPLES)
def test_identity_survives(values: list[Any], data: st.DataObject) -> None:
    """The same tensor, array or container at several places is one object at the other end, and the same on return."""
    picks = data.draw(st.lists(st.integers(0, max(0, len(values) - 1)), max_size=6)) if values else []
    inner = [values[pick] for pick in picks]
    value = {"one": inner, "two": (inner, inner, *inner), "all": values}
    seen = []

    def echo(arg: Any) -> Any:
        seen.append(arg)
        return [arg, arg["one"], *arg["all"]]

    back = Pair().call(echo, value)
    arrived = seen[0]
    assert arrived["one"] is arrived["two"][0] is arrived["two"][1]
    for place, pick in enumerate(picks):
        if isinstance(values[pick], (torch.Tensor, np.ndarray)):
            assert arrived["one"][place] is arrived["two"][2 + place] is arrived["all"][pick]
    assert back[0] is value
    assert back[1] is inner
    for value_back, ours in zip(back[2:], values, strict=True):
        assert same(value_back, ours)
        if isinstance(ours, (torch.Tensor, np.ndarray)):
            assert value_back is ours


@pytest.mark.skipif(not hasattr(torch, "bcomplex32"), reason="PyTorch has it since 2.14")
def test_bcomplex32_survives() -> None:
    """Complex numbers of two bfloat16 arrive; a conjugated view of them, which PyTorch cannot resolve, is refused."""
    value = torch.tensor([1 + 2j, 3 - 1j]).to(vars(torch)["bcomplex32"])
    for seen in there_and_back(value):
        assert same(seen, value)
    with pytest.raises(Unsupported):
        there_and_back(value.conj())


# -- what a worker says of tensors besides their numbers --------------------------------------------------------------


def test_requires_grad_is_sent() -> None:
    """The worker gets plain leaves that require gradients as the check's do; its results are detached, with facts."""
    x = torch.ones(2, requires_grad=True)
    Pair().call(lambda x: x.detach_(), x)
    assert not facts_of(x).requires_grad  # it ended there, and no other facts are known
    x = torch.nn.Parameter(torch.ones(2))
    seen = []

    def double(x: torch.Tensor) -> torch.Tensor:
        seen.append((type(x), x.requires_grad, x.is_leaf))
        return x * 2

    y = Pair().call(double, x)
    assert seen == [(torch.Tensor, True, True)]
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
        z = Pair().call(lambda: copy_values(x)[0])
    assert y is x
    assert same(z, x)
