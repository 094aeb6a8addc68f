"""What the worker changes of an argument is changed at the asking end."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from wire.drawn import EXAMPLES, arrays
from wire.pair import Pair, bits, quietly, same

from grader.wire.call import copy_values
from grader.wire.decode import Decoder
from grader.wire.encode import Encoder
from grader.wire.frames import ProtocolError
from grader.wire.table import ObjectTable


def test_tensors_change_here_as_there() -> None:
    """In-place changes of an argument's elements, shape, storage and size are seen at the asking end."""
    pair = Pair()
    x = torch.arange(6.0).reshape(2, 3)
    address = x.data_ptr()
    pair.call(quietly(lambda x: x.add_(1)), x)
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert x.data_ptr() == address
    pair.call(quietly(lambda x: x.t_()), x)
    assert (x.shape, x.stride(), x.data_ptr()) == ((3, 2), (1, 3), address)
    pair.call(quietly(lambda x: x.unsqueeze_(0)), x)
    assert (x.shape, x.data_ptr()) == ((1, 3, 2), address)
    pair.call(quietly(lambda x: x.resize_(20).zero_()), x)
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
    """What the worker changes in containers is changed in the same objects here: nested ones, and types of numbers."""
    numbers, names, chosen, inner = [1, 0.0, 1], {"a": 1, "b": True}, {1}, [0]
    outer = (inner, {"inner": inner})

    def change(*args: Any) -> None:
        args[0][:2] = True, -0.0
        args[0].append(2)
        args[1].update(b=1.0, c=2)
        del args[1]["a"]
        args[2].add(5)
        args[3][1]["inner"].insert(0, torch.ones(1))
        args[3][1]["new"] = args[3][0]

    Pair().call(change, numbers, names, chosen, outer)
    assert same(numbers, [True, -0.0, 1, 2])
    assert same(names, {"b": 1.0, "c": 2})
    assert chosen == {1, 5}
    assert outer[0] is inner
    assert same(inner, [torch.ones(1), 0])
    assert outer[1]["new"] is inner


@given(arrays(), st.integers(0, 255))
@settings(EXAMPLES)
def test_arrays_change_here_as_there(array: np.ndarray, byte: int) -> None:
    """What the worker writes into an array of ours is in it afterwards, unless it is read-only."""
    before = bits(array)

    def write(arg: np.ndarray) -> bytes:
        if arg.flags.writeable:
            arg[...] = byte // 2
        return bits(arg)

    assert Pair().call(write, array) == bits(array)
    assert array.flags.writeable or bits(array) == before


def test_an_array_changes_its_shape_here_as_there() -> None:
    """A new shape or dtype of an array is seen at the asking end; its memory stays where it is."""
    array: np.ndarray = np.arange(6)
    address = array.__array_interface__["data"][0]

    def change(arg: np.ndarray) -> None:
        with warnings.catch_warnings(action="ignore"):  # deprecated since NumPy 2.5
            arg.shape = (2, 3)
            setattr(arg, "dtype", np.dtype("u8"))  # noqa: B010  mypy has it as read-only

    Pair().call(change, array)
    assert (array.shape, array.dtype, array.tolist()) == ((2, 3), np.dtype("u8"), [[0, 1, 2], [3, 4, 5]])
    assert array.__array_interface__["data"][0] == address


def set_layout(array: np.ndarray, shape: tuple[int, ...], strides: tuple[int, ...], dtype: str = "") -> None:
    with warnings.catch_warnings(action="ignore"):  # deprecated since NumPy 2.4 and 2.5
        if dtype:
            setattr(array, "dtype", np.dtype(dtype))  # noqa: B010  mypy has it as read-only
        array.shape = shape
        array.strides = strides


LAYOUTS: list[tuple[np.ndarray, Any]] = [
    (np.arange(6.0), ((2, 3), (8, 16))),
    (np.arange(6.0).reshape(2, 3), ((3, 2), (8, 24))),
    (np.arange(6.0).reshape(2, 3).T, ((3, 2), (16, 8))),
    (np.arange(6, dtype="i4"), ((3,), (8,), "i8")),
    (np.zeros((0, 3)), ((3, 0, 5), (8, 8, 8))),
]
LAYOUTS_OF_VIEWS = [
    *LAYOUTS,
    (np.arange(12.0)[::2], ((2, 3), (8, 16))),
    (np.arange(6.0), ((2, 3), (0, 0))),
    (np.arange(6)[::-1], ((3, 2), (-8, -16))),
]


@pytest.mark.parametrize(
    ("array", "change"),
    [*((array.copy(order="K"), change) for array, change in LAYOUTS), *((a[...], c) for a, c in LAYOUTS_OF_VIEWS)],
)
def test_arrays_have_the_layout_that_they_had(array: np.ndarray, change: tuple[Any, ...]) -> None:
    """Shape, strides and dtype of an array are taken back and made again, also where the shape suits no strides."""
    pair, before, seen = Pair(), array.copy(order="K"), list[np.ndarray]()
    strides = array.strides

    def set_and_keep(arg: np.ndarray) -> None:
        set_layout(arg, *change)
        seen.append(arg)

    pair.call(set_and_keep, array)
    assert same(array, seen[0])
    with pair.record.arguments_as_they_were():
        assert (array.shape, array.strides, array.dtype, bits(array)) == (
            *(before.shape, strides, before.dtype),
            bits(before),
        )
    assert same(array, seen[0])


def test_a_layout_that_cannot_be_taken_back_is_refused() -> None:
    """NumPy forgets memory of an array that its strides do not reach: such a change is refused, and changes nothing."""
    array = np.arange(6.0)
    with pytest.raises(ProtocolError):
        Pair().call(lambda arg: set_layout(arg, (2, 3), (0, 0)), array)
    assert same(array, np.arange(6.0))


def has_changed(pair: Pair, value: Any) -> bool:
    """Whether student code has changed a value of the check's."""
    now = str(value)
    with pair.record.arguments_as_they_were():
        return str(value) != now


def test_what_did_not_change_does_not_travel_back() -> None:
    """A reply carries the memory that was written to, and no other."""
    pair = Pair()
    x, y = torch.zeros(1000), torch.zeros(10)
    pair.call(lambda x, y: None, x, y)
    assert pair.sent == 0
    pair.call(quietly(lambda x, y: y.add_(1)), x, y)
    assert 0 < pair.sent < 100
    assert has_changed(pair, y)
    assert not has_changed(pair, x)


def test_a_changed_view_is_a_change_of_all_that_share_it() -> None:
    """Whoever lies in memory that was written to has changed."""
    pair, x, other = Pair(), torch.zeros(4), torch.zeros(1)
    pair.call(quietly(lambda x, other: x.add_(1)), x, other)
    assert [has_changed(pair, value) for value in (x, x[1:], other)] == [True, True, False]


def change_all(x: torch.Tensor, a: np.ndarray, box: list[Any], names: dict[Any, int], chosen: set[int]) -> None:
    x.add_(1)
    a += 1
    box.append(5)
    names["new"] = 1
    chosen.clear()


def test_arguments_as_they_were() -> None:
    """A reference gets the values as they were before the worker changed them, however often it was called."""
    pair, calls = Pair(), 2
    x, a, names, chosen = torch.zeros(3), np.zeros(3), {(1, 2): 1, "a": 2}, {1, 2}
    box: list[Any] = [torch.ones(1)]
    for _ in range(calls):
        pair.call(quietly(change_all), x, a, box, names, chosen)
    now: tuple[Any, ...] = [calls] * 3, [5] * calls, {(1, 2): 1, "a": 2, "new": 1}, set()
    with pair.record.arguments_as_they_were():
        before = copy_values(x, a, box, names, chosen, x[1:])
    assert same(before, (torch.zeros(3), np.zeros(3), [torch.ones(1)], {(1, 2): 1, "a": 2}, {1, 2}, torch.zeros(3)[1:]))
    assert (x.tolist(), box[1:], names, chosen) == now


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
def test_arguments_have_the_layout_that_they_had(change: Callable[[torch.Tensor], Any]) -> None:
    """A changed shape or storage is taken back and made again, not only changed elements."""
    pair = Pair()
    x = torch.arange(4.0).reshape(1, 4)
    before = x.clone()
    pair.call(quietly(change), x)
    after = x.detach().clone()
    with pair.record.arguments_as_they_were():
        assert same(copy_values(x, [x]), (before, [before]))
    assert (x.shape, bits(x)) == (after.shape, bits(after))


def test_what_the_check_changed_since_stays() -> None:
    """Only the worker's changes are taken back; a value that the check wrote to afterwards is the check's."""
    pair = Pair()
    x, box = torch.zeros(3), [1]
    pair.call(quietly(lambda x, box: (x.add_(1), box.append(2))), x, box)
    x.fill_(7)
    box.append(8)
    with pair.record.arguments_as_they_were():
        assert (x.tolist(), box) == ([7, 7, 7], [1, 2, 8])


def overwrite(array: np.ndarray) -> None:
    """A reply that overwrites the memory of an argument."""
    table = ObjectTable()
    Encoder(table, lambda value: ["proxy", 0, "x"]).encode([array])
    tree = {"roots": [None], "rows": [], "blocks": [[0, array.nbytes]]}
    data = memoryview(bytearray(b"\1" * 64))
    Decoder(table, lambda *child: None).decode(tree, data)


def test_a_message_cannot_write_to_read_only_memory() -> None:
    """Memory that is read-only here is not overwritten, whatever a message says."""
    writable, constant = np.zeros(8), np.frombuffer(bytes(64))
    overwrite(writable)
    assert bits(writable) == b"\1" * 64
    with pytest.raises(ProtocolError, match="read-only"):
        overwrite(constant)
    assert bits(constant) == bytes(64)
