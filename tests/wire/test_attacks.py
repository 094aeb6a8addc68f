"""Ways to make the decoder do much for few bytes, or take what is not there, one by one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from wire.ends import little_memory_and_time
from wire.hostile import Ours, survive
from wire.pair import Pair

from grader.check.values import assert_values
from grader.model.endings import CheckFailed
from grader.wire.decode import Decoder
from grader.wire.frames import Caps, ProtocolError
from grader.wire.table import ObjectTable

FIRST = len(Ours().table.rows)
BLOCK = len(Ours().table.blocks)
LISTS = [number for number, row in enumerate(Ours().table.rows) if row[0] == "list"]
EXPANDED = ["tensor", "bool", [1 << 18], [0], 0, BLOCK, 0, 8, 0]


def reply(rows: Any = (), blocks: Any = (), result: Any = None) -> dict[str, Any]:
    return {"roots": [result], "rows": list(rows), "blocks": list(blocks)}


def ref(place: int) -> list[Any]:
    return ["ref", FIRST + place]


def chain(length: int, wide: int, kind: str = "list") -> list[Any]:
    """Containers, each of which holds the one before several times."""
    return [[FIRST, ["tuple", 1, 2]], *([FIRST + n + 1, [kind, *[ref(n)] * wide]] for n in range(length))]


def many(count: int, row: list[Any], start: int = 0) -> list[Any]:
    return [[FIRST + start + place, row] for place in range(count)]


def changed(row: Callable[[Ours], tuple[Any, list[Any]]]) -> Callable[[], dict[str, Any]]:
    """A reply that changes the row of one argument."""

    def make() -> dict[str, Any]:
        ours = Ours()
        obj, new = row(ours)
        return reply([[ours.number(obj), new]])

    return make


def row_of(ours: Ours, obj: Any, **parts: Any) -> tuple[Any, list[Any]]:
    """The row of an argument with some parts replaced, by place: `at1` is the second."""
    row = list(ours.table.rows[ours.number(obj)])
    for place, part in parts.items():
        row[int(place.removeprefix("at"))] = part
    return obj, row


def on_block(*row: Any) -> Callable[[], dict[str, Any]]:
    """A new tensor or array on a new block of eight bytes."""
    return lambda: reply([[FIRST, list(row)]], [[BLOCK, 8]])


def with_facts(facts: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """Facts of an argument."""
    return changed(lambda ours: (ours.x, [*row_of(ours, ours.x)[1], facts]))


ATTACKS: dict[str, Callable[[], Any]] = {
    "billion laughs": lambda: reply(chain(11, 100), result=ref(11)),
    "billion laughs in slices": lambda: reply(chain(11, 3, "slice"), result=ref(11)),
    "billion laughs in keys": lambda: reply([*chain(10, 2, "tuple"), *many(400, ["set", ref(10)], 11)]),
    "billion laughs in keys of a dict": lambda: reply(
        [*chain(10, 2, "tuple"), *many(1, ["dict", *[ref(10), 1] * 99], 11)]
    ),
    "deep nesting": lambda: reply(chain(100, 1), result=ref(100)),
    "deep nesting in an argument": lambda: reply([*chain(11, 1), *([n, ["list", ref(11)]] for n in LISTS)]),
    "nesting deeper than Python's stack": lambda: reply(chain(490, 1), result=ref(490)),
    "a list that holds itself": lambda: reply([[number, ["list", ["ref", number]]] for number in LISTS]),
    "a tuple that holds itself": lambda: reply([[FIRST, ["tuple", ref(0)]]], result=ref(0)),
    "lists that hold each other": lambda: reply(
        [*([n, ["list", ref(0)]] for n in LISTS), [FIRST, ["list", *(["ref", n] for n in LISTS)]]]
    ),
    "colliding keys": lambda: reply([[FIRST, ["dict", *(item for n in range(2000) for item in (n * (2**61 - 1), 0))]]]),
    "colliding members of an argument": changed(
        lambda ours: (ours.chosen, ["set", *(n * (2**61 - 1) for n in range(999))])
    ),
    "an array of no memory": lambda: reply(many(400, ["array", "|u1", [1 << 20], [1], 0, None, True])),
    "a tensor expanded a little": lambda: reply(many(2, EXPANDED), [[BLOCK, 8]], ref(0)),
    "bools expanded many times": lambda: reply(many(400, EXPANDED), [[BLOCK, 8]]),
    "a size that overflows": on_block("tensor", "float32", [1 << 45, 1 << 45, 4], [4, 4, 1], 1 << 40, BLOCK, 0, 8, 0),
    "sizes of a small product": on_block("tensor", "uint8", [1 << 32, 1 << 32], [1, 0], 0, BLOCK, 0, 8, 0),
    "an empty tensor of huge sizes": on_block("tensor", "uint8", [0, 1 << 59, 1 << 59], [1, 1, 1], 0, BLOCK, 0, 8, 0),
    "a stride that overflows": on_block("tensor", "float64", [2, 2], [1 << 59, 1 << 59], 0, BLOCK, 0, 8, 0),
    "a negative stride": on_block("tensor", "float32", [2], [-1], 1, BLOCK, 0, 8, 0),
    "a negative offset": on_block("tensor", "float32", [2], [1], -1, BLOCK, 0, 8, 0),
    "an array below its memory": on_block("array", "<f4", [2], [-4], 0, BLOCK, True),
    "an array beyond its memory": on_block("array", "<f4", [2], [4], 4, BLOCK, True),
    "an element that ends behind its memory": on_block("array", "<f8", [1], [8], 1, BLOCK, True),
    "a storage beyond its memory": on_block("tensor", "uint8", [8], [1], 0, BLOCK, 1, 8, 0),
    "a storage that is not aligned": on_block("tensor", "float32", [1], [1], 0, BLOCK, 1, 4, 0),
    "memory of nobody": lambda: reply([[FIRST, ["tensor", "uint8", [8], [1], 0, BLOCK, 0, 8, 0]]]),
    "memory by a number that is none": on_block("tensor", "uint8", [8], [1], 0, True, 0, 8, 0),
    "a block by a number far away": lambda: reply(blocks=[[200, 8]]),
    "a block twice with two sizes": lambda: reply(blocks=[[BLOCK, 4], [BLOCK, 4]]),
    "an argument's memory of another size": lambda: reply(blocks=[[0, 8]]),
    "an argument's memory twice": lambda: reply(blocks=[[0, 24], [0, 24]]),
    "a block of a negative size": lambda: reply(blocks=[[BLOCK, -8], [BLOCK + 1, 16]]),
    "a block of a huge size": lambda: reply(blocks=[[BLOCK, 1 << 62]]),
    "a block that shares the bytes of another": lambda: reply(blocks=[[BLOCK + n, 8] for n in range(1000)]),
    "too many objects": lambda: reply(many(600, ["list"])),
    "an object said twice": lambda: reply([[FIRST, ["list"]], [FIRST, ["tuple"]]]),
    "an argument said twice": changed(lambda ours: (ours.inner, ["tuple", 1])),
    "a tuple of the check's that changes": changed(lambda ours: (ours.mixed, ["tuple", 1])),
    "an array that becomes a tensor": changed(lambda ours: (ours.a, ours.table.rows[ours.number(ours.x)])),
    "an array on the memory of another": changed(lambda ours: row_of(ours, ours.a, at5=0, at2=[3], at3=[8])),
    "an array of another size": changed(lambda ours: row_of(ours, ours.a, at2=[3])),
    "a parameter without a gradient": changed(lambda ours: row_of(ours, ours.w, at1="int32")),
    "a bool by another name": on_block("array", "<b1", [8], [1], 0, BLOCK, True),
    "a key that is a list": lambda: reply([[FIRST, ["dict", ["ref", LISTS[0]], 1]]]),
    "a key without a value": lambda: reply([[FIRST, ["dict", 1]]]),
    "a slice of two": lambda: reply([[FIRST, ["slice", 1, 2]]]),
    "bytes that are a number": lambda: reply(result=["bytes", 5]),
    "a scalar of a number": lambda: reply(result=["numpy.scalar", "<f8", 5]),
    "a scalar of too few bytes": lambda: reply(result=["numpy.scalar", "<f8", "1234567"]),
    "a bool of NumPy's that is 7": lambda: reply(result=["numpy.scalar", "|b1", "\x07"]),
    "objects of NumPy's": lambda: reply(result=["numpy.dtype", "|O8"]),
    "a size of a negative number": lambda: reply(result=["Size", -1]),
    "a proxy of a negative number": lambda: reply(result=["proxy", -1, "x"]),
    "a name of the check's": lambda: reply(result=["name", "", "echo_last_argument"]),
    "a version that is negative": with_facts({"version": -1}),
    "a version that is huge": with_facts({"version": 1 << 40}),
    "a device of a thousand letters": with_facts({"device": "x" * 999}),
    "facts of no kind": with_facts({"__class__": "x"}),
    "no rows": lambda: {"roots": [], "blocks": []},
    "rows by name": lambda: {"roots": [], "rows": {}, "blocks": []},
}
TAKEN = {"a tensor expanded a little"}


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_are_refused(name: str) -> None:
    """Each way to make the decoder do much for few bytes, or read beyond memory, is a ProtocolError, or is cheap."""
    tree = json.loads(json.dumps(ATTACKS[name]()))
    assert survive(tree, bytes(64 * len(tree["blocks"]) if "shares" not in name else 64)) == (name in TAKEN)


def test_a_list_of_the_checks_is_as_it_was() -> None:
    """A message that would make it too deep is refused, though no new object alone is, and changes nothing."""
    ours = Ours()
    tree = reply([*chain(11, 1), [ours.number(ours.inner), ["list", ref(11)]]], result=ref(11))
    with pytest.raises(ProtocolError, match="too deep"):
        ours.take(tree, b"")
    assert ours.inner == [1, 2.5, "text"]


@pytest.mark.parametrize("bad", [2, 255])
@pytest.mark.parametrize("target", ["new", "argument"])
def test_a_bool_is_0_or_1(target: str, bad: int) -> None:
    """Any other byte would be a bool that equals neither True nor False."""
    ours = Ours()
    if target == "new":
        tree = reply([[FIRST, ["tensor", "bool", [3], [1], 0, BLOCK, 0, 3, 0]]], [[BLOCK, 3]], ref(0))
    else:
        tree = reply([], [[ours.table.rows[ours.number(ours.b)][5], 3]])
    with pytest.raises(ProtocolError, match="invalid bool"):
        ours.take(tree, bytes([0, bad, 1]) + bytes(61))
    assert ours.b.tolist() == [True, False, True]


def test_a_key_with_the_hash_of_a_tensor() -> None:
    """A key that has a tensor's hash is compared with it, which PyTorch refuses; so is the reply."""
    ours = Ours()
    keys = [["ref", ours.number(ours.x)], hash(ours.x)]
    with pytest.raises(ProtocolError, match="not hashable"):
        ours.take(reply([[FIRST, ["set", *keys]]]), b"")


def test_numbers_are_integers() -> None:
    """What merely equals a number, or is none, is refused wherever a number belongs."""
    values: list[Any] = [True, 1.0, "1", None, -1, 1 << 70, [], {}]
    for value in values:
        blocks = reply(blocks=[[value, 64]]), reply(blocks=[[BLOCK, value]])
        for tree in (reply(rows=[[value, ["list"]]]), *blocks, reply(result=["ref", value])):
            with pytest.raises(ProtocolError):
                Ours().take(tree, bytes(64 if tree["blocks"] else 0))


def test_the_real_caps_hold_what_is_hashed_in_bounds() -> None:
    """A tuple that two million parts unfold from is not hashed in each of many sets."""
    rows: list[Any] = [[0, ["tuple", 1, 2]]]
    rows += [[number, ["tuple", ["ref", number - 1], ["ref", number - 1]]] for number in range(1, 20)]
    rows += [[number, ["set", ["ref", 19]]] for number in range(20, 90_000)]
    tree = {"roots": [], "rows": rows, "blocks": []}
    with pytest.raises(ProtocolError, match="too large"):
        Decoder(ObjectTable(), lambda *_: None, Caps()).decode(tree, memoryview(b""))


# -- few bytes that say they are many ---------------------------------------------------------------------------------


def made_of(row: list[Any], memory: int = 16) -> Any:
    """What arrives of a row on a block."""
    tree = {"roots": [["ref", 0]], "rows": [[0, row]], "blocks": [[0, memory]]}
    data = memoryview(bytearray(-(-memory // 64) * 64))
    return Decoder(ObjectTable(), lambda *_: None).decode(tree, data)[0]


def tensor_of(shape: list[int], dtype: str, bits: int = 0) -> Any:
    """What arrives of a row with strides of 0."""
    return made_of(["tensor", dtype, shape, [0] * len(shape), 0, 0, 0, 16, bits])


def test_a_value_far_above_its_bytes_is_a_fault() -> None:
    """One element that says it is 10^8 is refused, whatever its dtype and its lazy flags."""
    with little_memory_and_time():
        for dtype, bits in (("bool", 0), ("complex64", 1), ("float64", 2)):
            with pytest.raises(ProtocolError, match="too many elements"):
                tensor_of([10_000, 10_000], dtype, bits)
        with pytest.raises(ProtocolError, match="too many elements"):
            made_of(["array", "|u1", [100_000_000], [0], 0, 0, True])


def test_what_came_may_be_as_large_as_it_is() -> None:
    """The bound is on what is expanded; memory that was sent is itself allowed."""
    size = Caps().expanded_bytes + 8
    assert made_of(["tensor", "uint8", [size], [1], 0, 0, 0, size, 0], size).numel() == size
    assert Caps(data_bytes=100).most_bytes(1000) == 100


def test_honest_expanded_values_still_cross() -> None:
    """A tensor and an array of 64 MB once expanded go both ways."""
    many = Caps().expanded_bytes // 8
    given = torch.ones(1, dtype=torch.float64).expand(many), np.broadcast_to(np.ones(1), (many,))
    taken = Pair().call(lambda x, y: (x, y), *given)
    assert [tuple(value.shape) for value in taken] == [(many,), (many,)]
    assert [tuple(value.shape) for value in Pair().call(lambda: given)] == [(many,), (many,)]


def test_shapes_are_compared_before_anything_is_copied() -> None:
    """A lazy view as large as is allowed is not made real to say that has the wrong shape."""
    lazy = tensor_of([8 << 20], "complex64", bits=1)
    wide = np.broadcast_to(np.zeros(1), (8 << 20,))
    with little_memory_and_time():
        for value, expected in ((lazy, torch.zeros(3)), (wide, np.zeros(3)), (lazy, 1.0), (wide, 1.0)):
            with pytest.raises(CheckFailed, match="shape"):
                assert_values(value, expected)
