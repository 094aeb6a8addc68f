"""Hostile messages: whatever a worker sends, the asking end answers with a value or a ProtocolFault."""

from __future__ import annotations

import copy
import json
import os
import socket
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wire.hostile import (
    CAPS,
    EXTREMES,
    REPLIES,
    Ours,
    at,
    honest_reply,
    places,
    survive,
)

from grader.wire.describe import DTYPES
from grader.wire.frames import HEADER, IN_DESCRIPTOR, MAGIC, Channel, ChannelClosed, ProtocolFault
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
    flags = {name: draw(st.booleans()) for name in ("requires_grad", "is_leaf", "is_conj", "is_neg", "is_inference")}
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
