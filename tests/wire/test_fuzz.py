"""Hostile messages: whatever a worker sends, the decoder gives values or a ProtocolError."""

from __future__ import annotations

import copy
import json
import os
import random
import socket
from typing import Any

import pytest
from wire.hostile import CAPS, EXTREMES, REPLIES, Ours, at, honest_reply, places, survive

from grader.wire.dtypes import DTYPES
from grader.wire.frames import HEADER, MAGIC, MAPPED, Channel, ProtocolError
from grader.wire.transport import ChannelClosed, SocketTransport

EXAMPLES = int(os.environ.get("WIRE_FUZZ_EXAMPLES", "600"))
"""More of them: `WIRE_FUZZ_EXAMPLES=20000 pytest tests/wire/test_fuzz.py --timeout=0`."""

SEED = int(os.environ.get("WIRE_FUZZ_SEED", "27"))


def mutate(draw: random.Random, tree: Any) -> None:
    """Replace one value of a tree, remove it, double it, exchange it for another, or move it."""
    paths = [path for path in places(tree) if path]
    if not paths:
        return
    path = draw.choice(paths)
    parent, key = at(tree, path[:-1]), path[-1]
    match draw.choice(["set", "set", "set", "near", "copy", "remove", "double", "swap", "cut", "nest"]):
        case "set":
            parent[key] = copy.deepcopy(draw.choice(EXTREMES))
        case "near" if isinstance(parent[key], int):
            parent[key] += draw.randint(-9, 9)
        case "copy":
            parent[key] = copy.deepcopy(at(tree, draw.choice(paths)))
        case "remove":
            del parent[key]
        case "double" if isinstance(parent, list):
            parent.insert(key, copy.deepcopy(parent[key]))
        case "swap":
            other = draw.choice(paths)
            theirs, there = at(tree, other[:-1]), other[-1]
            if other[: len(path)] != path and path[: len(other)] != other:
                parent[key], theirs[there] = theirs[there], parent[key]
        case "cut" if isinstance(parent[key], list):
            del parent[key][draw.randint(0, 3) :]
        case "nest":
            for _ in range(draw.choice([1, 2, 100, 300])):
                parent[key] = [draw.choice(["ref", "slice", "list"]), parent[key]]


@pytest.mark.parametrize("number", range(len(REPLIES)))
def test_honest_replies_are_taken(number: int) -> None:
    """The messages that the mutations start from are valid."""
    text, data = honest_reply(number)
    assert survive(json.loads(text), data)


def test_mutated_replies_do_no_harm() -> None:
    """A reply with any values replaced, moved or removed is taken or a ProtocolError, and changes only what it says."""
    draw, taken = random.Random(SEED), 0
    for _ in range(EXAMPLES):
        text, data = honest_reply(draw.randrange(len(REPLIES)))
        tree = json.loads(text)
        for _ in range(draw.randint(1, 4)):
            mutate(draw, tree)
        if draw.random() < 0.1:
            data = data[: draw.randint(0, len(data))]
        elif data and draw.random() < 0.2:
            data = bytes(draw.choice([byte, draw.randrange(256)]) for byte in data)
        taken += survive(tree, data)
    assert 0 < taken < EXAMPLES


def random_tree(draw: random.Random, depth: int) -> Any:
    """Any JSON."""
    if depth == 0 or draw.random() < 0.3:
        return copy.deepcopy(draw.choice(EXTREMES))
    items = [random_tree(draw, depth - 1) for _ in range(draw.randint(0, 4))]
    return items if draw.random() < 0.8 else {draw.choice("abcx"): item for item in items}


def test_random_trees_do_no_harm() -> None:
    """A reply that is any JSON at all is taken or is a ProtocolError, and changes only what it says."""
    draw = random.Random(SEED + 1)
    for _ in range(EXAMPLES // 2):
        tree = {name: random_tree(draw, 3) for name in ("roots", "rows", "blocks") if draw.random() < 0.9}
        if draw.random() < 0.7:
            tree["rows"] = [[draw.randint(-1, 30), random_tree(draw, 2)] for _ in range(draw.randint(0, 4))]
        survive(tree, draw.randbytes(draw.choice([0, 0, 8, 64, 100])))


def test_layouts_at_the_bounds_do_no_harm() -> None:
    """Any shape, strides and offsets over a block are refused, or lie inside of it: every element can be read."""
    draw, taken = random.Random(SEED + 2), 0
    extreme = [-(2**48), -(2**62), 2**31, 2**48, 2**59, 2**60, 2**61, 2**63, 2**64]
    first = len(Ours().table.rows)
    block = len(Ours().table.blocks)

    def near() -> int:
        return draw.choice(extreme) if draw.random() < 0.1 else draw.randint(-2, 9)

    for _ in range(EXAMPLES):
        size, dims = draw.choice([1, 7, 8, 64]), draw.randint(0, 4)
        shape, strides = [near() for _ in range(dims)], [near() for _ in range(dims)]
        where = draw.choice([block, block, block, -1, 0, None])
        if draw.random() < 0.5:
            dtype, unit = draw.choice(["|b1", "<b1", "<i2", ">i4", "<f8", "<c16", "|u1", "<f16"]), draw.choice([1, 8])
            row = ["array", dtype, shape, [stride * unit for stride in strides], near(), where, draw.random() < 0.5]
        else:
            place = [near(), where, near(), draw.choice([size, 0, 8, near()])]
            row = ["tensor", draw.choice(list(DTYPES)), shape, strides, *place, draw.randint(-1, 4)]
        rows = [[first, row]]
        if draw.random() < 0.3:
            rows.insert(0, [draw.randrange(7), row])
        tree = {"roots": [["ref", first]], "rows": rows, "blocks": [[block, size]]}
        taken += survive(tree, bytes(64))
    assert 0 < taken < EXAMPLES


def test_random_bytes_do_no_harm() -> None:
    """Any bytes on the channel, behind a valid header or not, give a frame, a ProtocolError or a closed channel."""
    draw = random.Random(SEED + 3)
    for _ in range(EXAMPLES // 2):
        junk, size = draw.randbytes(draw.randint(0, 200)), draw.getrandbits(64)
        header = draw.choice(
            [
                b"",
                HEADER.pack(MAGIC, 1, len(junk), 0),
                HEADER.pack(MAGIC, 1, len(junk), 10 | MAPPED),
                HEADER.pack(MAGIC, size % 2**32, size % 300, size),
            ]
        )
        ours, theirs = socket.socketpair()
        channel = Channel(SocketTransport(ours), CAPS)
        try:
            with theirs:
                theirs.sendall(header + junk)
            frame = channel.receive()
            Ours().take(frame.tree, bytes(frame.data))
        except (ProtocolError, ChannelClosed):
            pass
        finally:
            channel.close()
