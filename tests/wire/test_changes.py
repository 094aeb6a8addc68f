"""What the worker changes of an argument is changed at the asking end."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from wire.drawn import EXAMPLES, arrays
from wire.pair import Pair, bits, same

from grader.wire.exchange import Exchange
from grader.wire.frames import ProtocolFault
from grader.wire.incoming import Incoming
from grader.wire.outgoing import Outgoing


def test_tensors_change_here_as_there() -> None:
    """In-place changes of an argument's elements, shape, storage and size are seen at the asking end."""
    pair = Pair()
    x = torch.arange(6.0).reshape(2, 3)
    address = x.data_ptr()
    pair.call(lambda x: x.add_(1), x)
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert x.data_ptr() == address
    pair.call(lambda x: x.t_(), x)
    assert (x.shape, x.stride(), x.data_ptr()) == ((3, 2), (1, 3), address)
    pair.call(lambda x: x.unsqueeze_(0), x)
    assert (x.shape, x.data_ptr()) == ((1, 3, 2), address)
    pair.call(lambda x: x.resize_(20).zero_(), x)
    assert x.tolist() == [0] * 20
    pair.call(lambda x: setattr(x, "data", torch.tensor([1.5])), x)
    assert x.tolist() == [1.5]
    pair.call(lambda x: setattr(x, "data", torch.tensor([7, 8])), x)
    assert same(x, torch.tensor([7, 8]))
    z = torch.tensor([1 + 2j])
    pair.call(lambda z: setattr(z, "data", z.data.conj()), z)
    assert z.is_conj()
    assert z.tolist() == [1 - 2j]


def test_containers_change_here_as_there() -> None:
    """Appending, updating and adding in the worker change the same objects at the asking end, nested ones too."""
    numbers, names, chosen, inner = [1], {"a": 1}, {1}, [0]
    outer = (inner, {"inner": inner})

    def change(*args: Any) -> None:
        args[0].append([2, args[0]] and 2)
        args[1].update(b=2)
        del args[1]["a"]
        args[2].add(5)
        args[3][1]["inner"].insert(0, torch.ones(1))
        args[3][1]["new"] = args[3][0]

    Pair().call(change, numbers, names, chosen, outer)
    assert numbers == [1, 2]
    assert names == {"b": 2}
    assert chosen == {1, 5}
    assert outer[0] is inner
    assert same(inner, [torch.ones(1), 0])
    assert outer[1]["new"] is inner


@given(arrays(), st.integers(0, 255))
@settings(EXAMPLES)
def test_arrays_change_here_as_there(array: np.ndarray, byte: int) -> None:
    """What the worker writes into an array of ours is in it afterwards, unless it is read-only."""
    pair = Pair()
    before = bits(array)

    def write(arg: np.ndarray) -> bytes:
        if arg.flags.writeable:
            arg[...] = byte // 2
        told: bytes = bits(arg)
        return told

    if array.flags.writeable:
        assert pair.call(write, array) == bits(array)
    else:
        assert pair.call(write, array) == before == bits(array)


def test_a_change_of_type_is_a_change() -> None:
    """Replacing a number by an equal one of another type is seen at the asking end."""
    numbers = [1, 0.0, {"a": True}]

    def change(numbers: list[Any]) -> None:
        numbers[0], numbers[1] = True, -0.0
        numbers[2]["a"] = 1.0

    Pair().call(change, numbers)
    assert same(numbers, [True, -0.0, {"a": 1.0}])


def test_subclasses_of_containers_are_changed() -> None:
    """A dict or list of a subclass is changed in place as a plain one is, and stays of its class."""
    counts = collections.Counter("aab")
    groups = collections.defaultdict(list, a=[1])

    def change(counts: dict[str, int], groups: dict[str, list[int]]) -> None:
        counts["c"] = 5
        groups["a"].append(2)
        groups["b"] = [3]

    Pair().call(change, counts, groups)
    assert counts == collections.Counter("aabccccc")
    assert groups == {"a": [1, 2], "b": [3]}
    assert groups["z"] == []


def test_an_array_changes_its_shape_here_as_there() -> None:
    """A new shape or a cleared writeable flag of an array is seen at the asking end."""
    pair = Pair()
    array: np.ndarray = np.arange(6)

    def change(arg: np.ndarray) -> None:
        arg.resize((2, 3), refcheck=False)
        arg.flags.writeable = False

    pair.call(change, array)
    assert array.shape == (2, 3)
    assert not array.flags.writeable


def test_what_the_worker_changes_is_told_only_once() -> None:
    """A block that nobody changed since does not travel again."""
    pair = Pair()
    x = torch.zeros(1000)
    pair.call(lambda x: None, x)
    out = Outgoing(pair.asks)
    out.value(x)
    _, data = out.finish()
    assert data == []


def forged(exchange: Exchange, data: bytes) -> None:
    """A reply that overwrites every block of the asking end."""
    rows = [[block.number, block.size, 0, True] for block in exchange.blocks.values()]
    Incoming(exchange, {"new": [], "changed": [], "blocks": rows}, memoryview(bytearray(data)))


@pytest.mark.parametrize("cleared_late", [False, True])
def test_a_message_cannot_write_to_read_only_memory(cleared_late: bool) -> None:
    """Memory that is read-only here is not overwritten, whatever a message says, even if it became so later."""
    pair = Pair()
    array = np.zeros(4) if cleared_late else np.frombuffer(bytes(32))
    pair.call(lambda a: None, array)
    if cleared_late:
        array.flags.writeable = False
    with pytest.raises(ProtocolFault):
        forged(pair.asks, b"\1" * 32)
    assert bits(array) == bytes(32)
