"""Hostile messages: whatever a worker sends, the asking end answers with a value or a ProtocolFault."""

from __future__ import annotations

import copy
import functools
import json
import os
import resource
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.wire.describe import DTYPES
from grader.wire.exchange import Exchange, HandleClaims, Remote
from grader.wire.frames import HEADER, IN_DESCRIPTOR, MAGIC, Caps, Channel, ChannelClosed, ProtocolFault, Unsupported
from grader.wire.incoming import Incoming, copies
from grader.wire.outgoing import Outgoing
from grader.wire.transport import SocketTransport

EXAMPLES = int(os.environ.get("WIRE_FUZZ_EXAMPLES", "300"))
"""More of them: `WIRE_FUZZ_EXAMPLES=20000 pytest tests/wire/test_fuzz.py --timeout=0`."""

FUZZ = settings(
    derandomize="WIRE_FUZZ_EXAMPLES" not in os.environ,
    database=None,
    deadline=None,
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
CAPS = Caps(tree_bytes=1 << 18, tree_nodes=20_000, data_bytes=1 << 20, objects=500, depth=12, expanded=5000)
SECONDS = 1.5
MEGABYTES = 48


class Handle(Remote):
    """What stands on the asking side for an object of the worker's."""

    def __init__(self, number: int, claims: HandleClaims) -> None:
        self.wire_name = ["known", number]
        self.claims = claims


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


REPLIES: list[Callable[..., Any]] = [
    lambda *args: None,
    lambda *args: args[0],
    change_everything,
    return_everything,
    lambda x, w, *args: ((w * 2).requires_grad_(), torch._neg_view(x[0]), torch.empty(0, 3), np.empty((0, 2))),
    lambda *args: setattr(args[0], "data", torch.arange(4)) or [args[0], args[-1]],
    lambda *args: [args[0].resize_(3, 3), args[8].clear(), args[7].clear(), args[6].clear()],
]


@functools.cache
def honest_reply(number: int) -> tuple[str, bytes]:
    """A reply as text. The numbers in it are the same each time."""
    ours = Ours()
    out = ours.ask()
    tree, data = ours.answer(REPLIES[number])
    del out
    return json.dumps(tree), data


# ------------------------------------------------------------------------------------------------------- mutations

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


def pick(draw: st.DrawFn, items: list[Any]) -> Any:
    return items[draw(st.integers(0, len(items) - 1))]


def mutate(draw: st.DrawFn, tree: Any) -> Any:
    """A tree with one value replaced, removed, doubled, exchanged for another, or moved."""
    paths = [path for path in places(tree) if path]
    if not paths:
        return tree
    path = pick(draw, paths)
    parent, key = at(tree, path[:-1]), path[-1]
    match draw(st.sampled_from(["set", "set", "set", "near", "copy", "remove", "double", "swap", "cut", "nest"])):
        case "set":
            parent[key] = copy.deepcopy(pick(draw, EXTREMES))
        case "near" if isinstance(parent[key], int):
            parent[key] = parent[key] + draw(st.integers(-9, 9))
        case "copy":
            parent[key] = copy.deepcopy(at(tree, pick(draw, paths)))
        case "remove":
            del parent[key]
        case "double" if isinstance(parent, list):
            parent.insert(key, copy.deepcopy(parent[key]))
        case "swap":
            other = pick(draw, paths)
            theirs, there = at(tree, other[:-1]), other[-1]
            if other[: len(path)] != path and path[: len(other)] != other:
                parent[key], theirs[there] = theirs[there], parent[key]
        case "cut" if isinstance(parent[key], list):
            del parent[key][draw(st.integers(0, 3)) :]
        case "nest":
            for _ in range(draw(st.sampled_from([1, 2, 100, 300]))):
                parent[key] = [draw(st.sampled_from(["known", "slice", "list"])), parent[key]][-2:]
    return tree


@st.composite
def hostile_replies(draw: st.DrawFn) -> tuple[dict[str, Any], bytes]:
    """An honest reply with a few changes in it."""
    text, data = honest_reply(draw(st.integers(0, len(REPLIES) - 1)))
    tree = json.loads(text)
    for _ in range(draw(st.integers(1, 4))):
        tree = mutate(draw, tree)
    if draw(st.integers(0, 9)) == 0:
        data = data[: draw(st.integers(0, len(data)))]
    return tree, data


# ---------------------------------------------------------------------------------------------------------- checks


def elements(obj: Any) -> bytes:
    """Every element of a tensor or array, read."""
    if isinstance(obj, np.ndarray):
        return obj.tobytes()
    plain = obj.detach().resolve_conj().resolve_neg().reshape(-1).clone(memory_format=torch.contiguous_format)
    return plain.view(torch.uint8).numpy().tobytes() if plain.numel() else b""


def shown(obj: Any) -> tuple[Any, ...]:
    """What of an object of ours no message may change unless it says so."""
    strides = obj.stride() if isinstance(obj, torch.Tensor) else obj.strides
    return str(obj.dtype), tuple(obj.shape), strides, elements(obj)


def touch(value: Any, level: int = 0) -> int:
    """Read all of a value, as a check that compares it would; returns how many values there are."""
    assert level <= 2 * CAPS.depth
    if isinstance(value, (torch.Tensor, np.ndarray)):
        assert len(elements(value)) <= CAPS.data_bytes
        if isinstance(value, torch.Tensor) and value.is_leaf and value.grad is not None:
            elements(value.grad)
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
    assert elements(copied[5]) == elements(ours.constant)


def peak() -> int:
    """The most megabytes that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


# ----------------------------------------------------------------------------------------------------------- tests


@pytest.mark.parametrize("number", range(len(REPLIES)))
def test_honest_replies_are_taken(number: int) -> None:
    """The messages that the mutations start from are valid."""
    text, data = honest_reply(number)
    assert survive(json.loads(text), data)


@given(hostile_replies())
@settings(FUZZ)
def test_mutated_replies_do_no_harm(reply: tuple[dict[str, Any], bytes]) -> None:
    """A reply with any values replaced, moved or removed is taken or a ProtocolFault, and changes only what it says."""
    tree, data = reply
    if isinstance(tree, dict):
        survive(tree, data)


JSON_TREES = st.recursive(
    st.sampled_from(EXTREMES) | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.sampled_from(["objects", "new", "changed", "blocks", "result", "x"]), inner, max_size=4)
    ),
    max_leaves=25,
)


@given(
    st.fixed_dictionaries(
        {
            "objects": st.fixed_dictionaries(
                {
                    name: st.lists(st.tuples(st.integers(-1, 30), JSON_TREES).map(list), max_size=4) | JSON_TREES
                    for name in ("new", "changed", "blocks")
                }
            )
            | JSON_TREES,
            "result": JSON_TREES,
        }
    ),
    st.binary(max_size=50),
)
@settings(FUZZ, max_examples=EXAMPLES // 2)
def test_random_trees_do_no_harm(tree: dict[str, Any], data: bytes) -> None:
    """A reply that is any JSON at all is taken or is a ProtocolFault, and changes only what it says."""
    survive(copy.deepcopy(tree), data)


@st.composite
def descriptions(draw: st.DrawFn) -> list[Any]:
    """Descriptions of tensors and arrays over one block, right up to its bounds and beyond."""
    size = draw(st.sampled_from([0, 1, 7, 8, 64]))
    near = st.integers(-2, 9) | st.sampled_from([-(2**48), -(2**62), 2**31, 2**48, 2**61, 2**63, 2**64])
    dims = draw(st.integers(0, 4))
    shape, strides = (draw(st.lists(near, min_size=dims, max_size=dims)) for _ in range(2))
    if draw(st.booleans()):
        dtype = draw(st.sampled_from(["|b1", "<i2", ">i4", "<f8", "<c16", "|u1", "<f16"]))
        places = [draw(st.sampled_from([1, 1, 1, -1, 3])), draw(near), draw(st.booleans())]
        return [size, ["array", dtype, shape, [stride * draw(st.sampled_from([1, 8])) for stride in strides], *places]]
    flags = {name: draw(st.booleans()) for name in ("requires_grad", "is_leaf", "is_conj", "is_neg")}
    claims = {**flags, "grad_fn": None, "version": draw(near), "device": "cpu", "type": "Tensor"}
    places = [
        draw(near),
        draw(st.sampled_from([1, 1, 1, -1, 3])),
        draw(near),
        draw(st.sampled_from([size, 0, 8]) | near),
    ]
    return [size, ["tensor", draw(st.sampled_from(list(DTYPES))), shape, strides, *places, claims, None]]


@given(descriptions(), st.booleans())
@settings(FUZZ)
def test_geometry_at_the_bounds_does_no_harm(told: list[Any], as_change: bool) -> None:
    """Any shape, strides and offsets over a block are refused, or lie inside of it: every element can be read."""
    size, description = told
    new = [[5, description]]
    changed = [[2, description]] if as_change else []
    tree = {"objects": {"new": new, "changed": changed, "blocks": [[1, size, 0, True]]}, "result": ["known", 5]}
    survive(tree, bytes(size))


@given(st.binary(max_size=200), st.sampled_from(["raw", "tree", "memory", "header"]), st.integers(0, 2**64 - 1))
@settings(FUZZ)
def test_random_bytes_do_no_harm(junk: bytes, kind: str, size: int) -> None:
    """Any bytes on the channel, behind a valid header or not, give a frame, a ProtocolFault or a closed channel."""
    ours, theirs = socket.socketpair()
    channel = Channel(SocketTransport(ours), CAPS)
    try:
        with theirs:
            header = {
                "raw": b"",
                "tree": HEADER.pack(MAGIC, 1, len(junk), 0),
                "memory": HEADER.pack(MAGIC, 1, len(junk), 10 | IN_DESCRIPTOR),
                "header": HEADER.pack(MAGIC, size % 2**32, size % 300, size),
            }[kind]
            theirs.sendall(header + junk)
        frame = channel.receive()
        Ours().take(frame.tree, bytes(frame.data))
    except (ProtocolFault, ChannelClosed):
        pass
    finally:
        channel.close()


# --------------------------------------------------------------------------------------------- attacks, one by one


def reply(new: Any = (), changed: Any = (), blocks: Any = (), result: Any = None) -> dict[str, Any]:
    return {"objects": {"new": list(new), "changed": list(changed), "blocks": list(blocks)}, "result": result}


def chain(length: int, wide: int, kind: str = "list") -> list[Any]:
    """Containers, each of which holds the one before several times."""
    rows: list[Any] = [[1, ["tuple", [1, 2]]]]
    for place in range(length):
        rows.append([2 * place + 3, [kind, [["known", 2 * place + 1]] * wide]])
    return rows


ATTACKS: dict[str, Callable[[], dict[str, Any]]] = {
    "billion laughs": lambda: reply(chain(11, 100), result=["known", 23]),
    "billion laughs in slices": lambda: reply(chain(11, 3, "slice"), result=["known", 23]),
    "billion laughs in keys": lambda: reply(
        [*chain(10, 2, "tuple"), *([1001 + 2 * place, ["set", [["known", 21]]]] for place in range(400))]
    ),
    "deep nesting": lambda: reply(chain(100, 1), result=["known", 201]),
    "deep nesting in one of ours": lambda: reply(
        chain(10, 1), [[number, ["list", [["known", 21]]]] for number in range(2, 60, 2)], result=["known", 21]
    ),
    "a list that holds itself": lambda: reply([], [[n, ["list", [["known", n]]]] for n in range(2, 60, 2)]),
    "lists that hold each other": lambda: reply(
        [[1, ["list", [["known", n] for n in range(14, 16, 2)]]]],
        [[n, ["list", [["known", 1], ["known", n + 2]]]] for n in range(2, 60, 2)],
    ),
    "nested slices": lambda: reply(result=functools.reduce(lambda part, _: ["slice", part, None, None], range(400), 1)),
    "colliding keys": lambda: reply([[1, ["dict", [[place * (2**61 - 1), 0] for place in range(4000)]]]]),
    "colliding members": lambda: reply([[1, ["set", [place * (2**61 - 1) for place in range(4000)]]]]),
    "an array of no memory": lambda: reply(
        [[2 * place + 1, ["array", "|u1", [1 << 20], [1], -1, 0, True]] for place in range(499)]
    ),
    "a tensor expanded many times": lambda: reply(
        [[2 * n + 3, ["tensor", "bool", [1 << 20], [0], 0, 1, 0, 8, claims(), None]] for n in range(400)],
        blocks=[[1, 8, 0, True]],
    ),
    "its own gradient": lambda: reply(
        [[3, ["tensor", "float32", [2], [1], 0, 1, 0, 8, claims(), ["known", 3]]]], blocks=[[1, 8, 0, True]]
    ),
    "a block of ours that is new": lambda: reply(blocks=[[200, 8, 0, True]]),
    "one block twice with two sizes": lambda: reply(blocks=[[1, 8, 0, True], [1, 4, 0, True]]),
    "many blocks": lambda: reply(blocks=[[2 * place + 1, 0, 0, True] for place in range(4000)]),
}
TAKEN = {"many blocks", "a tensor expanded many times"}


def claims() -> dict[str, Any]:
    flags = dict.fromkeys(["requires_grad", "is_conj", "is_neg"], False)
    return {**flags, "is_leaf": True, "grad_fn": None, "version": 0, "device": "cpu", "type": "Tensor"}


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_are_refused(name: str) -> None:
    """Each way to make the asking end do much for few bytes is a ProtocolFault, or costs little."""
    tree = ATTACKS[name]()
    assert survive(json.loads(json.dumps(tree)), bytes(8)) == (name in TAKEN)


def test_containers_of_ours_that_change_count_where_they_occur() -> None:
    """A list of ours that a message makes deep is refused, though no new object alone is."""
    ours = Ours()
    out = ours.ask()
    number = ours.exchange.number_of(ours.inner)
    tree = reply(chain(10, 1), [[number, ["list", [["known", 21]]]]], result=["known", 21])
    assert ours.exchange.number_of(ours.names) is not None
    with pytest.raises(ProtocolFault):
        ours.take(tree, b"")
    assert ours.inner == [1, 2.5, "text"]
    del out
