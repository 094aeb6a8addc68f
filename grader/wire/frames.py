"""One message on a stream: a header, a tree of JSON, and data, which is raw memory. Standard library only."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from grader.wire.bounds import Caps, ChannelClosed, ProtocolFault, Unsupported, WireError
from grader.wire.shared import check_shared, make_shared, map_shared, read_shared
from grader.wire.tree import parse_tree, write_tree

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


class Frame(NamedTuple):
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
        self.maps = False  # whoever does not trust the other end must not: it could shorten the memory under a reader

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
        tree: Mapping[str, object],
        data: Sequence[bytes | memoryview] = (),
        patience: Patience | None = None,
    ) -> None:
        """Send one frame.

        Raises:
            Unsupported: the message is larger than the caps.
            ChannelClosed: the other side is gone.
        """
        text = write_tree(tree, self._caps)
        size = sum(len(part) for part in data)
        if size > self._caps.data_bytes:
            raise Unsupported(f"the values are too large to hand over ({size / 2**20:.0f} MB)")
        # Small data in the stream: making memory takes more system calls than sending them along.
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
        self, number: int, tree: Mapping[str, object], descriptor: int, size: int, patience: Patience | None = None
    ) -> None:
        """Send one frame whose data is memory that both ends share from now on. The caller keeps the descriptor.

        Raises:
            Unsupported: the message is larger than the caps.
            ChannelClosed: the other side is gone.
        """
        text = write_tree(tree, self._caps)
        header = HEADER.pack(MAGIC, number, len(text), size | IN_DESCRIPTOR | MAPPED)
        self._transport.write([header, text], descriptor, patience)

    def _shared(self, data: Sequence[bytes | memoryview]) -> int | None:
        # A worker may make no such memory: no limit of its own counts it.
        return make_shared(data) if self._transport.carries_descriptors and not self.maps else None

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
            # The header first, and alone. Nothing of the size that it announces is allocated before the caps are asked.
            magic, number, tree_size, size = HEADER.unpack(header)
            shared, mapped = bool(size & IN_DESCRIPTOR), bool(size & MAPPED)
            size &= ~(IN_DESCRIPTOR | MAPPED)
            if magic != MAGIC or shared != (descriptor is not None) or (mapped and not (shared and self.maps)):
                raise ProtocolFault("not a frame")
            if tree_size > self._caps.tree_bytes or size > self._caps.data_bytes:
                raise ProtocolFault(f"a frame of {tree_size} + {size} bytes is larger than allowed")
            text = bytearray(tree_size)
            self._transport.read_into(memoryview(text), patience)
            # Memory of a worker is copied: while it is mapped, the worker could change what has been checked already.
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


__all__ = [
    "HEADER",
    "INLINE_BYTES",
    "IN_DESCRIPTOR",
    "MAGIC",
    "MAPPED",
    "Caps",
    "Channel",
    "ChannelClosed",
    "Frame",
    "Patience",
    "ProtocolFault",
    "Transport",
    "Unsupported",
    "WireError",
]
