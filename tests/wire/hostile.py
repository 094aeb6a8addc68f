"""What a check has handed over, replies to it, honest and not, and what must hold when one was taken."""

from __future__ import annotations

import functools
import json
import resource
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from wire.pair import Handle, bits

from grader.wire.describe import DTYPES
from grader.wire.exchange import Exchange
from grader.wire.frames import Caps, ProtocolFault, Unsupported
from grader.wire.incoming import Incoming, copies
from grader.wire.outgoing import Outgoing

CAPS = Caps(tree_bytes=1 << 18, tree_nodes=20_000, data_bytes=1 << 20, objects=500, depth=12, expanded=5000)
SECONDS = 1.5
MEGABYTES = 48


class Ours:
    """What a check has handed over, and an exchange that waits for the reply."""

    def __init__(self) -> None:
        self.exchange = Exchange(asks=True, caps=CAPS, make_handle=Handle)
        self.worker = Exchange(asks=False, caps=CAPS)
        self.x = torch.arange(6.0).reshape(2, 3)
        self.w = torch.ones(3, requires_grad=True)
        self.w.grad = torch.full((3,), 2.0)
        self.z = torch._conj(torch.tensor([1 + 2j, 3 + 4j]))
        self.e = torch.zeros(0, 3)
        self.a = np.arange(6)
        self.constant = np.frombuffer(b"read-only bytes.", np.uint8)
        self.inner: list[Any] = [1, 2.5, "text"]
        self.names = {"inner": self.inner, "x": self.x, 3: None}
        self.chosen = {1, (2, 3)}
        self.mixed = (self.inner, self.x[1:], slice(1, None))

    @property
    def leaves(self) -> list[Any]:
        return [self.x, self.w, self.z, self.e, self.a, self.constant]

    @property
    def arguments(self) -> list[Any]:
        return [*self.leaves, self.inner, self.names, self.chosen, self.mixed]

    def ask(self) -> Outgoing:
        """Hand everything over; the reply is taken while what this returns lives."""
        out = Outgoing(self.exchange)
        items = [out.value(arg) for arg in self.arguments]
        told, data = out.finish()
        incoming = Incoming(self.worker, json.loads(json.dumps(told)), memoryview(bytearray().join(data)))
        self.arrived = [incoming.value(item) for item in items]
        return out

    def answer(self, function: Callable[..., Any]) -> tuple[dict[str, Any], bytes]:
        """The reply of an honest worker."""
        reply = Outgoing(self.worker)
        result = reply.value(function(*self.arrived))
        told, data = reply.finish()
        return json.loads(json.dumps({"objects": told, "result": result})), b"".join(data)

    def take(self, tree: dict[str, Any], data: bytes) -> Any:
        incoming = Incoming(self.exchange, tree.get("objects"), memoryview(bytearray(data)))
        return incoming.value(tree.get("result"))


def change_everything(x: Any, w: Any, z: Any, e: Any, a: Any, constant: Any, inner: Any, names: Any, *rest: Any) -> Any:
    x.add_(1).t_()
    w.grad = None
    (w * 2).sum().backward()
    z.mul_(2)
    a[::2] = 7
    inner.append([9, x])
    names["new"] = torch.ones(2)
    rest[0].add(5)
    return [x, a[::-1], torch.from_numpy(a)[1:], len, {"k": (inner, frozenset({1}))}]


def return_everything(*args: Any) -> Any:
    x = torch.arange(8, dtype=torch.int16)
    values = [torch.zeros(2, dtype=dtype) for dtype in DTYPES.values()]
    arrays = [np.zeros(4, dtype=code)[::-1] for code in ("?", ">i2", "<f8", "c16")]
    plain = [2**70, -0.0, 1j, b"ab", "\ud800", range(3), slice(1), np.float32(1), torch.float32, np.dtype("f4"), ...]
    odd = [torch.Size([1]), torch.device("cpu"), torch.strided, {"a": {1, 2}}, {(1, 2): None}]
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
    lambda *args: [args[0].resize_(3, 3).zero_(), args[8].clear(), args[7].clear(), args[6].clear()],
]


@functools.cache
def honest_reply(number: int) -> tuple[str, bytes]:
    """A reply as text. The numbers in it are the same each time."""
    ours = Ours()
    out = ours.ask()
    tree, data = ours.answer(REPLIES[number])
    del out
    return json.dumps(tree), data


EXTREMES: list[Any] = [
    *(0, 1, -1, 2, 3, 4, 5, 7, 8, 64, 65, 1000, 2**31, 2**31 - 1, 2**32, 2**48, 2**48 + 1, 2**62, 2**63 - 1, 2**63),
    *(-(2**48), -(2**63), 2**64, 10**30, -(10**30), 0.5, -0.0, 1e308, float("nan"), float("inf"), True, False, None),
    *("", "x", "known", "float32", "bool", "complex64", "tensor", "array", "list", "cpu", "<f8", ">i2", "|b1", "<f99"),
    *("<c32", "O", "f4,f4", "(", "a", "M8[s]", "\x00", "\ud800", "cuda:99", "mkldnn", "privateuseone:999", "9" * 5000),
    *("int", "0x" + "f" * 100, "Z", [], {}, [[]], ["known"], ["known", 1], ["known", 2], ["known", 3], ["known", -1]),
    *(
        ["known", 2**40],
        ["known", True],
        ["known", 2.0],
        ["known", "2"],
        [["known", 2], ["known", 2]],
        ["named", "", ""],
    ),
    *(["list", [["known", 2]]], ["dict", [[["known", 2], 1]]], ["set", [[]]], ["tuple", 5], ["size", [-1, 2**62]]),
    *(
        ["slice", [1, 2]],
        ["slice", [["known", 2], None, None]],
        ["slice", 1, 2, 3],
        ["range", [0, 1, 0]],
        ["range", [0]],
    ),
    *(["int", "0x" + "f" * 70000], ["int", "-0x1_0"], ["int", "nan"], ["scalar", "<f8", "00"], ["scalar", "|b1", "07"]),
    *(
        ["scalar", "O", "00" * 8],
        ["scalar", "<f4,<f4", "00" * 8],
        ["complex", 1, 2],
        ["complex", 1.0, 2.0],
        ["bytes", "Ā"],
    ),
    *(["dtype", "object"], ["dtype", []], ["device", "mkldnn"], ["device", "cuda:" + "9" * 30], ["array_dtype", "a"]),
    *(["array_dtype", "("], ["torch", "x"], ["ellipsis"], ["text", "\xff"], ["text", "abc"], [1] * 70, [0] * 70),
    *(
        [2**48] * 4,
        [2**32, 2**32],
        [2**31] * 2 + [0],
        [0, 2**48, 2**48],
        [-1],
        [1, 1],
        [2**48, 1],
        [-8, 2**48],
        [3, -1],
    ),
    ["tensor", "float32", [2], [1], 0, -1, 0, 0, {}, None],
    ["array", "<f8", [10**5], [8], -1, 0, True],
    ["array", "<f8", [0, 2**48, 2**48], [8, 8, 8], -1, 0, True],
    ["array", "<i8", [2, 2], [-8, 8], 2, 8, True],
    ["handle", "x", True, ""],
    ["handle", "x" * 3000, 5, "y"],
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
        if isinstance(value, torch.Tensor) and value.is_leaf and value.grad is not None:
            bits(value.grad)
    if isinstance(value, dict):
        return 1 + sum(touch(key, level + 1) + touch(item, level + 1) for key, item in value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return 1 + sum(touch(item, level + 1) for item in value)
    if isinstance(value, slice):
        return touch((value.start, value.stop, value.step), level + 1)
    hash(value) if not isinstance(value, np.ndarray) else None
    return 1


def first_numbers(tree: Any, name: str) -> set[Any]:
    """The numbers that a message claims to tell of, under "blocks" or "changed"."""
    rows = tree.get("objects", {}).get(name, []) if isinstance(tree.get("objects"), dict) else []
    firsts = [row[0] for row in rows if isinstance(row, list) and row] if isinstance(rows, list) else []
    return {first for first in firsts if isinstance(first, (int, float))}


def survive(tree: dict[str, Any], data: bytes) -> bool:
    """Take a reply and use what came of it; tell whether it was taken.

    Raises:
        AssertionError: it did harm.
    """
    ours = Ours()
    out = ours.ask()
    blocks, changed = first_numbers(tree, "blocks"), first_numbers(tree, "changed")
    constant = shown(ours.constant)
    before = []
    for leaf in ours.leaves:
        number = ours.exchange.number_of(leaf)
        assert number is not None
        row = ours.exchange.known[number].row
        assert row is not None
        if number not in changed and row.block not in blocks:
            before.append((leaf, shown(leaf)))
    start, memory = time.process_time(), peak()
    try:
        result = ours.take(tree, data)
        taken = True
    except ProtocolFault:
        result, taken = None, False
    if taken:
        assert touch(result) <= 2 * CAPS.expanded
        for argument in ours.arguments:
            assert touch(argument) <= 2 * CAPS.expanded
    for leaf, was in before:
        assert shown(leaf) == was
    assert shown(ours.constant)[3] == constant[3]
    if taken:
        ours.exchange.end_call()
        ask_again(ours, result)
    assert time.process_time() - start < SECONDS
    assert peak() - memory < MEGABYTES
    del out
    return taken


def ask_again(ours: Ours, result: Any) -> None:
    """Hand over what came of a reply, once more and as it was before."""
    try:
        out = Outgoing(ours.exchange)
        items = [out.value(arg) for arg in (*ours.arguments, result)]
        told, _ = out.finish()
        json.dumps([told, items])
    except Unsupported:
        pass
    try:
        copied = copies(*ours.leaves, originals=ours.exchange)
    except Unsupported:
        return
    assert bits(copied[5]) == bits(ours.constant)


def peak() -> int:
    """The most megabytes that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
