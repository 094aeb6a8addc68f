"""One message on a stream: a header, a tree of JSON, and data, which is raw memory; and what it may hold at most.

`ProtocolError` says that the other process broke a rule, `TooMuch` that it sent too much, and `Unsupported` that a
value of ours cannot be sent. Standard library only.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from grader.wire.transport import Patience, Transport, map_shared_memory

_OF_A_TREE = 16
"""So many times its text a tree takes as objects of Python's."""


class ProtocolError(Exception):
    """The other process sent what this protocol does not allow."""


class TooMuch(ProtocolError):
    """The other process sent more than all its messages together may hold."""


class Unsupported(TypeError):
    """A value of ours cannot be sent; the message says why."""


def expect(condition: object, text: str) -> None:
    """Raise a `ProtocolError` with the text unless a condition holds.

    Raises:
        ProtocolError: the condition does not hold.
    """
    if not condition:
        raise ProtocolError(text)


@dataclass
class Budget:
    """The bytes that further messages may hold together; like `Caps`, checked before any memory is allocated."""

    left: int

    def subtract(self, tree_bytes: int, data_bytes: int) -> None:
        """Subtract the size of a message from what is left.

        A byte of the tree counts 16 times, as Python's objects take so much more memory than their JSON.

        Raises:
            TooMuch: the message is larger than what is left.
        """
        self.left -= _OF_A_TREE * tree_bytes + data_bytes
        if self.left < 0:
            raise TooMuch("more than all messages together may hold")


@dataclass(frozen=True)
class Caps:
    """The limits on one message, checked before any memory is allocated."""

    tree_bytes: int = 16 << 20
    tree_nodes: int = 1_000_000
    data_bytes: int = 1 << 30
    objects: int = 100_000
    depth: int = 64
    unfolded: int = 2_000_000
    """Items of a value if each shared container were counted wherever it occurs."""
    expanded_bytes: int = 64 << 20
    """Of one tensor or array whose elements share memory, for instance by strides of 0."""

    def most_bytes(self, memory: int) -> int:
        """Return the most bytes that all elements of one tensor may have, if they were copied.

        `torch.zeros(1).expand(10**9)` has 4 bytes of memory, but its copy would take 4 GB: such a tensor could fill the
        memory of this process. By default a tensor over 4 bytes of memory may have elements of 64 MiB, and one over 100
        MiB of memory elements of 100 MiB.

        Args:
            memory: the size in bytes of the tensor's memory.
        """
        return min(self.data_bytes, max(memory, self.expanded_bytes))


def is_index(value: object, end: int) -> bool:
    """Return whether a value from another process is an int in `range(end)`."""
    return type(value) is int and 0 <= value < end


KEYED = {"dict": 2, "set": 1, "frozenset": 1}
"""Containers that hash their items, or every second one."""

_LEAVES = "tensor", "array"
_TOO_LARGE = "a value is too large or too deep"


def ordered_by_nesting(rows: Sequence[list[Any]], changed: Sequence[int], caps: Caps) -> list[int]:
    """Return the numbers of changed rows and of all rows that they contain, inner ones first.

    Containers are built in this order. In `[["list", ["ref", 1], 7], ["tuple", 5]]` row 0 contains row 1, so that the
    order is `[1, 0]`.

    Args:
        rows: every row of the message.
        changed: the numbers of the changed rows.
        caps: the limits on a message.

    Raises:
        ProtocolError: there is a cycle, deep nesting, or a value that is huge once shared containers are unfolded.
    """
    order: list[int] = []
    hashed = 0
    depth, size = [0] * len(rows), [0] * len(rows)  # a size of -1: its items are being visited

    def visit(number: int, above: int) -> None:
        """Add a row to the order, after all rows that it refers to.

        A cycle, deep nesting or a huge value raises `ProtocolError`.
        """
        nonlocal hashed
        expect(size[number] >= 0, "a value contains itself")
        if size[number]:
            return
        expect(above < caps.depth, _TOO_LARGE)  # before Python's own limit
        size[number] = -1
        row = rows[number]
        inner = _references(row, len(rows))
        for child in inner:
            visit(child, above + 1)
        size[number] = len(row) + sum(size[child] for child in inner)
        depth[number] = 1 + max((depth[child] for child in inner), default=0)
        if row[0] in KEYED:  # whose hash goes over all that a key holds, each time
            hashed += sum(size[child] for child in _references(row, len(rows), KEYED[row[0]]))
        expect(max(size[number], hashed) <= caps.unfolded and depth[number] <= caps.depth, _TOO_LARGE)
        order.append(number)

    for first in changed:
        visit(first, 0)
    return order


def _references(row: list[Any], count: int, step: int = 1) -> list[int]:
    """Return the numbers of the rows that a container's row refers to.

    For `["dict", ["ref", 1], ["ref", 3]]` they are `[1, 3]`, and with a `step` of 2 `[1]`, the key.

    Args:
        row: the row of the container.
        count: the number of rows; each reference must be below it.
        step: 1 for all items; 2 for the keys of a dict, without its values.

    Raises:
        ProtocolError: a reference is to an unknown row.
    """
    if row[0] in _LEAVES:
        return []
    numbers = [item[1] for item in row[1::step] if type(item) is list and len(item) == 2 and item[0] == "ref"]
    expect(all(is_index(number, count) for number in numbers), "a reference to an unknown object")
    return numbers


MAGIC = b"TGR1"
HEADER = struct.Struct("<4sIIQ")
"""Magic, request number, bytes of the tree, bytes of data; of the latter a high bit says `MAPPED`."""

MAPPED = 1 << 62
"""The data are memory that comes as a descriptor and stays shared: the sender will write to it later."""


class Frame(NamedTuple):
    """One message as it arrived.

    Attributes:
        number: the number of the request.
        tree: the JSON.
        data: raw memory; writes are seen at the other end only if it is mapped.
        original: the memory of `data`, for an end that reports changes; else empty.
    """

    number: int
    tree: dict[str, Any]
    data: memoryview
    original: memoryview = memoryview(b"")


class Channel:
    """Frames over a transport. Opened with a transport, closed with it.

    Attributes:
        transport: the transport, which the channel owns.
        caps: the caps on one message.
        budget: the budget of bytes for all messages that arrive; None for no limit.
        trusts: True if this end trusts the other. A worker trusts the check process: it takes descriptors from there,
            and keeps what arrived. The check process takes none: a worker could shorten the memory under a reader.
    """

    def __init__(self, transport: Transport, caps: Caps | None = None, *, trusts: bool = False) -> None:
        self.transport = transport
        self.caps = caps or Caps()
        self.trusts = trusts
        self.budget: Budget | None = None

    def send(
        self,
        number: int,
        tree: Mapping[str, object],
        data: Sequence[bytes | memoryview] = (),
        patience: Patience | None = None,
        mapped: tuple[int, int] | None = None,
    ) -> None:
        """Send one frame.

        Args:
            number: the number of the request.
            tree: the tree of the message.
            data: the memory of the message.
            patience: a function that returns the seconds to wait for the other end; None for no deadline.
            mapped: the descriptor, which the caller keeps, and the size in bytes of memory that both ends share from
                now on, in place of `data`.

        Raises:
            Unsupported: the message is larger than the caps.
            ChannelClosed: the other end is gone.
        """
        text = encode_tree(tree, self.caps)
        size = sum(map(len, data))
        if size > self.caps.data_bytes:
            raise Unsupported(f"the values are too large to send ({size / 2**20:.0f} MB)")
        descriptor = None
        if mapped is not None:
            descriptor, size = mapped[0], mapped[1] | MAPPED
        self.transport.write([HEADER.pack(MAGIC, number, len(text), size), text, *data], descriptor, patience)

    def receive(self, patience: Patience | None = None) -> Frame:
        """Wait for one frame, and return it.

        Raises:
            ProtocolError: the bytes that came are not a frame, or are larger than the caps.
            ChannelClosed: the other end is gone.
        """
        header = bytearray(HEADER.size)
        self.transport.read_into(memoryview(header), patience)
        descriptor = self.transport.take_descriptor()
        try:
            # The header first, and alone: nothing of the size that it announces is allocated before it is checked.
            magic, number, tree_size, size = HEADER.unpack(header)
            mapped = bool(size & MAPPED)
            size &= ~MAPPED
            if magic != MAGIC or mapped != (descriptor is not None) or mapped > self.trusts:
                raise ProtocolError("not a frame")
            if tree_size > self.caps.tree_bytes or size > self.caps.data_bytes:
                raise ProtocolError(f"a frame of {tree_size} + {size} bytes is larger than allowed")
            if self.budget is not None:
                self.budget.subtract(tree_size, size)
            text = bytearray(tree_size)
            self.transport.read_into(memoryview(text), patience)
            tree = parse_tree(bytes(text), self.caps)
            if descriptor is not None:
                return Frame(number, tree, map_shared_memory(descriptor, size))
            data = memoryview(bytearray(size))
            self.transport.read_into(data, patience)
            return Frame(number, tree, data, data.toreadonly() if self.trusts else memoryview(b""))
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def close(self) -> None:
        """Close this end of the channel."""
        self.transport.close()


def pack_messages(messages: Sequence[tuple[dict[str, Any], list[Any]]]) -> tuple[dict[str, Any], list[Any]]:
    """Join several messages, each a tree and its data, into one message.

    The replies of several timed calls are sent so. Messages with 8 and 4 bytes of data have the tree
    `{"parts": [first tree, second tree], "sizes": [8, 4]}`.
    """
    sizes = [sum(map(len, data)) for _, data in messages]
    return {"parts": [tree for tree, _ in messages], "sizes": sizes}, [block for _, data in messages for block in data]


def unpack_messages(frame: Frame) -> list[Frame]:
    """Split a frame that `pack_messages` joined, and return a frame for each message.

    Raises:
        ProtocolError: the frame does not contain such messages.
    """
    trees, sizes = frame.tree.get("parts"), frame.tree.get("sizes")
    if type(trees) is not list or type(sizes) is not list or len(trees) != len(sizes):
        raise ProtocolError("an invalid list of messages")
    frames, end = [], 0
    for tree, size in zip(trees, sizes, strict=True):
        expect(type(tree) is dict and type(size) is int and size >= 0, "an invalid message of several")
        start, end = end, end + size
        frames.append(Frame(frame.number, tree, frame.data[start:end], frame.original[start:end]))
    return frames


_ENCODE = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_DECODE = json.JSONDecoder().decode


def encode_tree(tree: Mapping[str, object], caps: Caps) -> bytes:
    """Return the tree of a frame as the bytes of JSON.

    Raises:
        Unsupported: the other process would refuse it.
    """
    try:
        text = _ENCODE(tree).encode("ascii")
    except ValueError:  # Python writes no longer ones, and reads none
        raise Unsupported("an integer has too many digits to be sent") from None
    count = _values_at_most(text)
    if len(text) > caps.tree_bytes or count > caps.tree_nodes:
        raise Unsupported(f"the values are too large to send ({len(text) / 2**20:.0f} MB, {count} parts)")
    return text


def parse_tree(text: bytes, caps: Caps) -> dict[str, Any]:
    """Parse the bytes of JSON that are a frame's tree, and return the tree.

    Raises:
        ProtocolError: they are not JSON, not an object, or have too many nodes.
    """
    # Counted before it is parsed: every two bytes of text may become an object of Python's.
    if _values_at_most(text) > caps.tree_nodes:
        raise ProtocolError("a message has too many parts")
    try:
        tree = _DECODE(text.decode("utf-8"))
    except (ValueError, RecursionError):
        raise ProtocolError("a message is not valid JSON") from None
    if not isinstance(tree, dict):
        raise ProtocolError("a message is not an object")
    return tree


def _values_at_most(text: bytes) -> int:
    """Return how many values JSON text may have at most, without the outermost one.

    `{"a":[1,2]}` may have 3: the number of its commas and opening brackets.
    """
    return text.count(b",") + text.count(b"[") + text.count(b"{")
