"""Values arrive as they were, and come back as they were."""

from __future__ import annotations

import collections
import math
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from wire.drawn import EXAMPLES, NESTED, PLAIN, arrays, tensors
from wire.pair import Handle, Pair, same, there_and_back

from grader.wire.frames import ProtocolFault, Unsupported
from grader.wire.incoming import Incoming, copies


@given(NESTED)
@settings(EXAMPLES, max_examples=250)
def test_plain_values_survive(value: Any) -> None:
    """Every plain value arrives as it was, and comes back as it was."""
    for arrived in there_and_back(value):
        assert same(value, arrived)


@pytest.mark.parametrize(
    "value",
    [
        "\ud83d\ude00",
        "\ude00\ud83d",
        "\ud800",
        "\U0001f600",
        "a\x00b",
        range(10**50),
        range(0, 10**5000, 7),
        slice(np.int64(3), 2**80, None),
        [slice(1, 2), slice(1, 2)],
        np.float64("nan"),
        np.longdouble("1.5"),
        [True, 1, 1.0],
        {1: "int", 1.5: "float", None: "none"},
        {frozenset({1, (2, 3)}), frozenset()},
        (),
        [],
        {},
        set(),
        torch.Size([]),
        torch.Size([0, 2**62]),
        1j * math.inf,
        complex(-0.0, math.nan),
    ],
    ids=lambda value: type(value).__name__,
)
def test_plain_values_at_the_edges_survive(value: Any) -> None:
    """Plain values that JSON, or a careless encoding, would change arrive as they were."""
    for arrived in there_and_back(value):
        assert same(value, arrived)


class Point(NamedTuple):
    """A tuple of a class that only this end knows."""

    x: int
    y: int


def test_subclasses_of_plain_values_arrive_as_plain_values() -> None:
    """Of a class that may be unknown at the other end a plain value arrives, or a tuple with its names."""
    text = type("Text", (str,), {})("abc")
    counts = collections.Counter("aab")
    seen, _ = there_and_back([text, counts, Point(1, 2), np.str_("abc"), bytearray(b"ab")])
    assert seen == ["abc", {"a": 2, "b": 1}, (1, 2), "abc", b"ab"]
    assert [type(item) for item in (*seen[:2], *seen[3:])] == [str, collections.Counter, str, bytes]
    assert (seen[2].x, seen[2]._fields) == (1, ("x", "y"))


@given(tensors())
@settings(EXAMPLES, max_examples=250)
def test_tensors_survive(tensor: torch.Tensor) -> None:
    """A tensor arrives with its dtype, shape, strides, offset, lazy flags, storage size and bits, and comes back so."""
    for arrived in there_and_back(tensor):
        assert same(tensor, arrived)


@given(arrays())
@settings(EXAMPLES, max_examples=250)
def test_arrays_survive(array: np.ndarray) -> None:
    """An array arrives with its dtype, byte order, shape, strides, read-only flag and bits, and comes back so."""
    for arrived in there_and_back(array):
        assert same(array, arrived)


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


def test_a_path_from_the_students_folder_goes_to_the_worker_alone() -> None:
    """A check hands a relative path; of a worker's it gets an object that stays there."""
    path = Path("data/word list.txt")
    pair = Pair()
    given = (path, [path], {"at": PurePosixPath("x")})
    assert pair.call(lambda *args: args == (path, [path], {"at": Path("x")}), *given) is True
    theirs = pair.call(lambda: path)
    assert isinstance(theirs, Handle)
    assert copies(path, [path]) == (path, [path])
    with pytest.raises(ProtocolFault):
        Incoming(pair.asks, {}, memoryview(b"")).value(["path", "/etc/passwd"])
    with pytest.raises(Unsupported, match=r"an absolute path cannot be handed.*data/words.txt"):
        pair.call(len, Path.cwd() / "words.txt")


def test_an_object_of_the_worker_comes_back_as_the_object_that_stood_for_it() -> None:
    """What the worker returned is, handed to it again, its own object; and ours when returned again."""
    pair = Pair()
    theirs = [torch.arange(3), np.arange(3), lambda: 1]
    ours = pair.call(lambda: list(theirs))
    again = pair.call(lambda *args: [arg is own for arg, own in zip(args, theirs, strict=True)] + theirs, *ours)
    assert again[:3] == [True, True, True]
    assert all(one is other for one, other in zip(again[3:], ours, strict=True))
