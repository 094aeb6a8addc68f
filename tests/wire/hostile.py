"""What a check has sent, replies to it, honest and not, and what must hold when one was taken."""

from __future__ import annotations

import functools
import json
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from wire.pair import StandIn, bits

from grader.wire.call import copy_values
from grader.wire.decode import Decoder
from grader.wire.dtypes import DTYPES
from grader.wire.encode import Encoder
from grader.wire.frames import Caps, ProtocolError, Unsupported, expect, is_index
from grader.wire.memory import MemoryBlock, address_range, byte_range
from grader.wire.table import ObjectTable, padded_blocks

CAPS = Caps(1 << 18, 20_000, 1 << 20, objects=500, depth=12, unfolded=5000, expanded_bytes=1 << 19)
SECONDS = 1.5
MEGABYTES = 48


def stand_in(*child: Any) -> StandIn:
    """What a connection makes of a proxy in a reply."""
    expect(len(child) == 3 and child[0] == "proxy" and is_index(child[1], 1 << 53), "an invalid proxy")
    return StandIn(child[1], str(child[2])[:100])


class Ours:
    """What a check has sent, and its table, which waits for the reply."""

    def __init__(self) -> None:
        # In one piece of memory, so that blocks, which are numbered by address, have the same numbers each time.
        memory = iter(np.zeros((8, 64), np.uint8))
        self.x = torch.from_numpy(next(memory)[:24].view(np.float32)).copy_(torch.arange(6.0)).reshape(2, 3)
        self.w = torch.from_numpy(next(memory)[:12].view(np.float32)).fill_(1).requires_grad_()
        self.z = torch._conj(torch.from_numpy(next(memory)[:16].view(np.complex64)).fill_(1 + 2j))
        self.e = torch.zeros(0, 3)
        self.b = torch.from_numpy(next(memory)[:3].view(np.bool_)).copy_(torch.tensor([True, False, True]))
        self.a = next(memory)[:48].view(np.int64)
        self.a[:] = range(6)
        self.constant = next(memory)[:16]
        self.constant[:] = range(16)
        self.constant.flags.writeable = False
        self.inner: list[Any] = [1, 2.5, "text"]
        self.names = {"inner": self.inner, "x": self.x, 3: None, (1, 2): 4}
        self.chosen = {1, (2, 3)}
        self.mixed = (self.inner, self.x[1:], slice(1, None))
        self.table = ObjectTable()
        tree, blocks = Encoder(self.table, lambda _: ["proxy", 0, ""]).encode(self.arguments)
        self.message = json.dumps(tree), b"".join(padded_blocks(blocks))

    @property
    def leaves(self) -> list[Any]:
        return [self.x, self.w, self.z, self.e, self.b, self.a, self.constant]

    @property
    def arguments(self) -> list[Any]:
        return [*self.leaves, self.inner, self.names, self.chosen, self.mixed]

    def number(self, obj: Any) -> int:
        """The number of an argument."""
        return next(number for number, known in enumerate(self.table.objects) if known is obj)

    def answer(self, function: Callable[..., Any]) -> tuple[dict[str, Any], bytes]:
        """The reply of an honest worker."""
        text, data = self.message
        theirs = ObjectTable()
        given = Decoder(theirs, stand_in, CAPS, answers=True)
        args = given.decode(json.loads(text), memoryview(bytearray(data)), memoryview(data))
        tree, blocks = Encoder(theirs, lambda _: ["proxy", 7, "builtin"], answers=True).encode([function(*args)])
        return json.loads(json.dumps(tree)), b"".join(padded_blocks(blocks))

    def take(self, tree: Any, data: bytes) -> Decoder:
        """Take a reply; its values are in `values` of what this gives."""
        decoder = Decoder(self.table, stand_in, CAPS)
        self.values = decoder.decode(tree, memoryview(bytearray(data)))
        return decoder


def change_everything(
    x: Any, w: Any, z: Any, e: Any, b: Any, a: Any, constant: Any, inner: Any, names: Any, *rest: Any
) -> Any:
    x.add_(1).t_()
    z.mul_(2)
    b.logical_not_()
    a[::2] = 7
    with warnings.catch_warnings(action="ignore"):  # deprecated since NumPy 2.5
        a.shape = (2, 3)
    inner.append([9, x])
    names["new"] = torch.ones(2)
    rest[0].add(5)
    return [x, a[::-1], torch.from_numpy(a)[1:], len, {"k": (inner, frozenset({1}))}]


def return_everything(*args: Any) -> Any:
    x = torch.arange(8, dtype=torch.int16)
    values = [torch.zeros(2, dtype=dtype) for dtype in DTYPES.values()]
    arrays = [np.zeros(4, dtype=code)[::-1] for code in ("?", ">i2", "<f8", "c16")]
    plain = [2**70, -0.0, 1j, b"ab", "\ud800", slice(1), np.float32(1), torch.float32, np.dtype("f4"), ...]
    odd = [torch.Size([1]), torch.device("cpu"), {"a": {1, 2}}, {(1, 2): None}]
    return [values, arrays, plain, odd, x[1:], x.view(2, 4).t(), x.expand(3, 8), object(), int, args[0]]


def replace_the_data(*args: Any) -> Any:
    args[0].data = torch.arange(4)
    return [args[0], args[-1]]


REPLIES: list[Callable[..., Any]] = [
    lambda *args: None,
    lambda *args: args[0],
    change_everything,
    return_everything,
    lambda x, w, *args: ((w * 2).requires_grad_(), torch._neg_view(x[0]), torch.empty(0, 3), np.empty((0, 2))),
    replace_the_data,
    lambda *args: [args[0].resize_(3, 3).zero_(), args[9].clear(), args[8].clear(), args[7].clear()],
]


@functools.cache
def honest_reply(number: int) -> tuple[str, bytes]:
    """A reply as text. The numbers in it are the same each time."""
    tree, data = Ours().answer(REPLIES[number])
    return json.dumps(tree), data


EXTREMES: list[Any] = [
    *(0, 1, -1, 2, 3, 4, 5, 7, 8, 64, 65, 1000, 2**31, 2**31 - 1, 2**32, 2**48, 2**48 + 1, 2**62, 2**63 - 1, 2**63),
    *(-(2**48), -(2**63), 2**64, 10**30, -(10**30), 0.5, -0.0, 1e308, float("nan"), float("inf"), True, False, None),
    *("", "x", "ref", "float32", "bool", "complex64", "tensor", "array", "list", "cpu", "<f8", ">i2", "|b1", "<f99"),
    *("<b1", ">b1", "<c32", "O", "f4,f4", "(", "a", "M8[s]", "\x00", "\ud800"),
    *("cuda:99", "mkldnn", "9" * 5000, "int64"),
    *([], {}, [[]], ["ref"], ["ref", 1], ["ref", 2], ["ref", 3], ["ref", -1], ["ref", 2**40], ["ref", True]),
    *(["ref", 2.0], ["ref", "2"], [["ref", 2], ["ref", 2]], ["name", "", ""], ["name", "student", "f"]),
    *(["list", ["ref", 2]], ["dict", ["ref", 2], 1], ["set", [[]]], ["tuple", 5], ["Size", -1, 2**62], ["Size", 2**63]),
    *(["slice", 1, 2], ["slice", ["ref", 2], None, None], ["slice", 1, 2, 3], ["dict", 1], ["set", ["ref", 7]]),
    *(["complex", 1, 2], ["complex", 1.0, 2.0], ["complex"], ["bytes", "Ā"], ["bytes", 5], ["bytes", None], ["bytes"]),
    *(["numpy.scalar", "<f8", 5], ["numpy.scalar", "<f8", "00"], ["numpy.scalar", "|b1", "\x07"], ["numpy.scalar"]),
    *(["numpy.scalar", "O", "0" * 8], ["numpy.scalar", "<f4,<f4", "0" * 8], ["numpy.scalar", "<f8", ["ref", 1]]),
    *(["dtype", "object"], ["dtype", []], ["device", "mkldnn", 0], ["device", "cuda", 10**30], ["numpy.dtype", "a"]),
    *(["numpy.dtype", "("], ["numpy.dtype", {}], ["device", None, None], ["Ellipsis"], ["Ellipsis", 1], ["x"], [None]),
    *([1] * 70, [0] * 70, [2**48] * 4, [2**32, 2**32], [2**31] * 2 + [0], [0, 2**48, 2**48], [-1], [1, 1], [2**48, 1]),
    *([-8, 2**48], [3, -1], [2**59, 2**59], [2**60]),
    ["tensor", "float32", [2], [1], 0, None, 0, 0, 0],
    ["tensor", "float32", [2], [1], 0, 0, 0, 8, 0, {"requires_grad": 1}],
    ["array", "<f8", [10**5], [8], 0, None, True],
    ["array", "<f8", [0, 2**48, 2**48], [8, 8, 8], 0, None, True],
    ["array", "<i8", [2, 2], [-8, 8], 8, 2, True],
    *(["proxy", 1, "x"], ["proxy", -1, "x"], ["proxy", 1, 5], ["proxy", 1, "x" * 3000], ["proxy", "1", "y"], ["proxy"]),
    *({"device": 5}, {"version": -1}, {"grad_fn": []}, {"device": "x" * 1000}, {"other": 1}, {"is_leaf": None}),
]


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value in a tree."""
    yield path
    if isinstance(tree, (list, dict)):
        for key, item in enumerate(tree) if isinstance(tree, list) else tree.items():
            yield from places(item, (*path, key))


def at(tree: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def shown(obj: Any) -> tuple[Any, ...]:
    """What of an object of ours no message may change unless it says so."""
    strides = obj.stride() if isinstance(obj, torch.Tensor) else obj.strides
    return str(obj.dtype), tuple(obj.shape), strides, bits(obj)


def touch(value: Any, level: int = 0) -> int:
    """Read all of a value, as a check that compares it would; returns how many values there are."""
    assert level <= 2 * CAPS.depth
    if isinstance(value, (torch.Tensor, np.ndarray)):
        assert len(bits(value)) <= CAPS.data_bytes
        if value.dtype in (torch.bool, np.dtype(bool)):
            assert set(bits(value)) <= {0, 1}
    if isinstance(value, dict):
        return 1 + sum(touch(key, level + 1) + touch(item, level + 1) for key, item in value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return 1 + sum(touch(item, level + 1) for item in value)
    if isinstance(value, slice):
        return touch((value.start, value.stop, value.step), level + 1)
    return 1


def check_inside(leaf: Any, blocks: list[MemoryBlock]) -> None:
    """All elements of a tensor or an array lie in one block, and a tensor's in its storage."""
    start, end = address_range(leaf)
    if isinstance(leaf, torch.Tensor):
        last = byte_range(int(leaf.storage_offset()), leaf.shape, leaf.stride(), 1)[1] if leaf.numel() else 0
        assert last * leaf.itemsize <= end - start, "a tensor lies outside its storage"
    inside = [block for block in blocks if block.address <= start and end <= block.address + block.nbytes]
    assert start >= end or inside, "a tensor or an array lies outside of every block"


def first_numbers(tree: Any, name: str) -> set[Any]:
    """The numbers that a message says something of, in "blocks" or "rows"."""
    rows = tree.get(name)
    firsts = [row[0] for row in rows if isinstance(row, list) and row] if isinstance(rows, list) else []
    return {first for first in firsts if isinstance(first, (int, float))}


def survive(tree: dict[str, Any], data: bytes) -> bool:
    """Take a reply, and use what came of it, which must do no harm; give whether it was taken."""
    ours = Ours()
    constant, all_before = shown(ours.constant), [(leaf, shown(leaf)) for leaf in ours.leaves]
    before = [(leaf, shown(leaf)) for leaf in not_named(ours, tree)]
    start, memory, changes = time.process_time(), peak(), []
    try:
        changes = ours.take(tree, data).changes
        taken = True
    except ProtocolError:
        taken, before = False, all_before  # then nothing has changed
    if taken:
        use(ours)
    for leaf, was in before:
        assert shown(leaf) == was
    assert shown(ours.constant)[3] == constant[3]
    for change in reversed(changes):
        change.swap()
    for leaf, was in all_before:
        assert shown(leaf) == was
    for change in changes:
        change.swap()
    if taken:
        ask_again(ours)
    assert time.process_time() - start < SECONDS
    assert peak() - memory < MEGABYTES
    return taken


def not_named(ours: Ours, tree: Any) -> Iterator[Any]:
    """Arguments that a reply says nothing of."""
    blocks, changed = first_numbers(tree, "blocks"), first_numbers(tree, "rows")
    for leaf in ours.leaves:
        number = ours.number(leaf)
        if number not in changed and ours.table.rows[number][5] not in blocks:
            yield leaf


def use(ours: Ours) -> None:
    """Read all that came of a reply, and look where its memory lies."""
    for value in (*ours.values, *ours.arguments):
        assert touch(value) <= 2 * CAPS.unfolded
    for leaf in ours.table.objects:
        if isinstance(leaf, (torch.Tensor, np.ndarray)):
            check_inside(leaf, ours.table.blocks)


def ask_again(ours: Ours) -> None:
    """Send what came of a reply, once more, and copies of it."""
    values = [*ours.arguments, *(value for value in ours.values if not isinstance(value, StandIn))]
    try:
        tree, _ = Encoder(ObjectTable(), lambda _: ["proxy", 0, ""]).encode(values)
        json.dumps(tree)
        copied = copy_values(*ours.leaves)
    except Unsupported:
        return
    assert bits(copied[6]) == bits(ours.constant)


def peak() -> int:
    """The most megabytes that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
