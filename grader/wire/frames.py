"""One message on a stream: a header, a tree of JSON, and data, which is raw memory. Standard library only."""

from __future__ import annotations

import json
import mmap
import os
import stat
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

MAGIC = b"TGR1"
HEADER = struct.Struct("<4sIIQ")
"""Magic, request number, bytes of the tree, bytes of data with a top bit set if they come in a descriptor."""

IN_DESCRIPTOR = 1 << 63
MAPPED = 1 << 62
"""The descriptor's memory stays shared: the sender will write into it later. Only a worker maps what it is sent."""

INLINE_BYTES = 256 * 1024
"""Data beyond this travels as shared memory, where the transport can carry a descriptor."""

Patience = Callable[[], float]
"""Seconds that a wait may last before the patience is asked again; raises when there is none left."""


class WireError(Exception):
    """A message could not be sent or received."""


class ProtocolFault(WireError):
    """The other side said something that this protocol has no room for."""


class ChannelClosed(WireError):
    """The other side is gone."""


class Unsupported(WireError):
    """A value of ours cannot be handed over; the message says why."""


class Transport(Protocol):
    """How bytes travel."""

    def write(self, parts: Sequence[bytes | memoryview], descriptor: int | None, patience: Patience | None) -> None:
        """Send all parts, and a descriptor with the first byte."""

    def read_into(self, view: memoryview, patience: Patience | None) -> None:
        """Fill the view.

        Raises:
            ChannelClosed: the other side is gone.
        """

    def take_descriptor(self) -> int | None:
        """The descriptor that came with the bytes read last; the caller owns it."""

    @property
    def carries_descriptors(self) -> bool:
        """Whether shared memory can travel."""

    def close_writing(self) -> None:
        """Tell the other side that nothing more comes."""

    def close(self) -> None:
        """Close our end."""


@dataclass(frozen=True)
class Caps:
    """What one message may hold at most. Checked before anything is allocated."""

    tree_bytes: int = 16 << 20
    tree_nodes: int = 1_000_000
    data_bytes: int = 1 << 30
    objects: int = 100_000
    depth: int = 64
    expanded: int = 2_000_000
    """Leaves of a tree when shared containers are counted each time they occur."""


@dataclass(frozen=True)
class Frame:
    """One message as it arrived.

    Attributes:
        number: of the request.
        tree: the JSON.
        data: raw memory; a copy, unless `mapped`.
        mapped: whether the other side can still write into `data`.
    """

    number: int
    tree: dict[str, Any]
    data: memoryview
    mapped: bool = False


class Channel:
    """Frames over a transport. Opened with a transport, closed with it.

    Attributes:
        maps: whether this end maps shared memory on request: a worker does, since it trusts the check process.
    """

    def __init__(self, transport: Transport, caps: Caps | None = None) -> None:
        self._transport = transport
        self._caps = caps or Caps()
        self.maps = False

    @property
    def shares_memory(self) -> bool:
        """Whether memory can be shared with the other end."""
        return self._transport.carries_descriptors

    @property
    def caps(self) -> Caps:
        """What a message may hold."""
        return self._caps

    @caps.setter
    def caps(self, caps: Caps) -> None:
        self._caps = caps

    def send(
        self,
        number: int,
        tree: dict[str, Any],
        data: Sequence[bytes | memoryview] = (),
        patience: Patience | None = None,
    ) -> None:
        """Send one frame.

        Raises:
            Unsupported: the message is larger than the caps.
            ChannelClosed: the other side is gone.
        """
        text = json.dumps(tree, separators=(",", ":")).encode("ascii")
        size = sum(len(part) for part in data)
        check_tree(text, self._caps)
        if size > self._caps.data_bytes:
            raise Unsupported(f"the values are too large to hand over ({size / 2**20:.0f} MB)")
        descriptor = self._shared(data) if size > INLINE_BYTES else None
        try:
            if descriptor is None:
                header = HEADER.pack(MAGIC, number, len(text), size)
                self._transport.write([header, text, *data], None, patience)
            else:
                header = HEADER.pack(MAGIC, number, len(text), size | IN_DESCRIPTOR)
                self._transport.write([header, text], descriptor, patience)
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def send_mapped(
        self, number: int, tree: dict[str, Any], descriptor: int, size: int, patience: Patience | None = None
    ) -> None:
        """Send one frame whose data is memory that both ends share from now on. The caller keeps the descriptor.

        Raises:
            Unsupported: the message is larger than the caps.
            ChannelClosed: the other side is gone.
        """
        text = json.dumps(tree, separators=(",", ":")).encode("ascii")
        check_tree(text, self._caps)
        header = HEADER.pack(MAGIC, number, len(text), size | IN_DESCRIPTOR | MAPPED)
        self._transport.write([header, text], descriptor, patience)

    def _shared(self, data: Sequence[bytes | memoryview]) -> int | None:
        if not self._transport.carries_descriptors or self.maps:  # a worker may make no such memory: none counts it
            return None
        descriptor = os.memfd_create("block", os.MFD_CLOEXEC)
        try:
            for part in data:
                rest = memoryview(part)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
        except OSError:  # the worker's own file limit: the bytes go through the socket instead
            os.close(descriptor)
            return None
        return descriptor

    def receive(self, patience: Patience | None = None) -> Frame:
        """Wait for one frame.

        Raises:
            ProtocolFault: what came is not a frame, or larger than the caps.
            ChannelClosed: the other side is gone.
        """
        header = bytearray(HEADER.size)
        self._transport.read_into(memoryview(header), patience)
        descriptor = self._transport.take_descriptor()
        try:
            magic, number, tree_size, size = HEADER.unpack(header)
            shared, mapped = bool(size & IN_DESCRIPTOR), bool(size & MAPPED)
            size &= ~(IN_DESCRIPTOR | MAPPED)
            if magic != MAGIC or shared != (descriptor is not None) or (mapped and not (shared and self.maps)):
                raise ProtocolFault("not a frame")
            if tree_size > self._caps.tree_bytes or size > self._caps.data_bytes:
                raise ProtocolFault(f"a frame of {tree_size} + {size} bytes is larger than allowed")
            text = bytearray(tree_size)
            self._transport.read_into(memoryview(text), patience)
            if descriptor is not None:
                check_shared(descriptor, size)
            if descriptor is not None and mapped:
                return Frame(number, parse_tree(bytes(text), self._caps), map_shared(descriptor, size), mapped=True)
            data = bytearray(size)
            if descriptor is None:
                self._transport.read_into(memoryview(data), patience)
            else:
                read_shared(descriptor, memoryview(data))
            return Frame(number, parse_tree(bytes(text), self._caps), memoryview(data))
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def close_writing(self) -> None:
        """Tell the other side that nothing more comes."""
        self._transport.close_writing()

    def close(self) -> None:
        """Close our end."""
        self._transport.close()


def check_shared(descriptor: int, size: int) -> None:
    """Refuse a descriptor that is not memory of that size: a read of anything else could wait for ever."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size < size:
        raise ProtocolFault("shared memory is shorter than announced, or something else")


def read_shared(descriptor: int, view: memoryview) -> None:
    """Copy shared memory. Read, never mapped: the sender could shorten it under a mapping and kill us."""
    done = 0
    while done < len(view):
        try:
            count = os.preadv(descriptor, [view[done:]], done)
        except OSError as error:
            raise ProtocolFault(f"shared memory cannot be read: {error}") from None
        if count == 0:
            raise ProtocolFault("shared memory is shorter than announced")
        done += count


def map_shared(descriptor: int, size: int) -> memoryview:
    """Shared memory itself, its pages present already where the system can see to that."""
    if not size:
        return memoryview(bytearray())
    flags = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)
    return memoryview(mmap.mmap(descriptor, size, flags=flags))


def check_tree(text: bytes, caps: Caps) -> None:
    """Refuse a tree of ours that the other side would refuse.

    Raises:
        Unsupported: it is too long or has too many parts.
    """
    if len(text) > caps.tree_bytes or _parts(text) > caps.tree_nodes:
        raise Unsupported(f"the values are too large to hand over ({len(text) / 2**20:.0f} MB, {_parts(text)} parts)")


def _parts(text: bytes) -> int:
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def parse_tree(text: bytes, caps: Caps) -> dict[str, Any]:
    """Read the tree of a frame.

    Raises:
        ProtocolFault: it is not JSON, not an object, or has too many nodes.
    """
    if _parts(text) > caps.tree_nodes:
        raise ProtocolFault("a message has too many parts")
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        raise ProtocolFault("a message is not valid JSON") from None
    if not isinstance(tree, dict):
        raise ProtocolFault("a message is not an object")
    return tree
