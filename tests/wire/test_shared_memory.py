"""Memory that travels as a descriptor."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import struct
from array import array

import pytest
from wire.ends import (
    announce,
    descriptors,
    hostile,
    little_memory_and_time,
    memory,
    opened,
    patience,
)

from grader.wire.frames import (
    HEADER,
    IN_DESCRIPTOR,
    MAGIC,
    ProtocolFault,
)
from grader.wire.shared import make_shared, make_to_map

GOOD = json.dumps({"a": 1}).encode()


def test_mapped_memory_is_shared() -> None:
    """What the sender writes afterwards is seen; the receiver's own writes do not need to be believed."""
    with opened("memory") as (ours, theirs):
        theirs.maps = True
        descriptor = memory(100)
        ours.send_mapped(7, {"a": 1}, descriptor, 100)
        frame = theirs.receive(patience(5))
        assert (frame.number, frame.tree, frame.mapped, len(frame.data)) == (7, {"a": 1}, True, 100)
        os.pwrite(descriptor, b"later", 50)
        assert bytes(frame.data[48:56]) == b"\0\0later\0"
        frame.data.release()
        os.close(descriptor)


def test_memory_is_mapped_only_by_those_who_may() -> None:
    """An end that does not trust the other refuses to map: the other could shorten the memory under it."""
    with opened("memory") as (ours, theirs):
        descriptor = memory(100)
        theirs.send_mapped(7, {}, descriptor, 100)
        os.close(descriptor)
        with pytest.raises(ProtocolFault, match="not a frame"):
            ours.receive(patience(5))


def test_mapped_memory_shorter_than_announced_is_a_fault() -> None:
    """A mapping is as large as the memory, or is not made."""
    with opened("memory") as (ours, theirs):
        theirs.maps = True
        descriptor = memory(10)
        ours.send_mapped(7, {}, descriptor, 100)
        os.close(descriptor)
        with pytest.raises(ProtocolFault, match="shorter than announced"):
            theirs.receive(patience(5))


def test_memory_shorter_than_announced_is_a_fault() -> None:
    """Shared memory that ends early is refused before a buffer of the announced size is made."""
    with hostile() as (channel, peer), little_memory_and_time():
        announce(peer, len(GOOD), 1 << 30, memory(1000), GOOD)
        with pytest.raises(ProtocolFault):
            channel.receive(patience(5))


@pytest.mark.parametrize("kind", ["pipe", "socket", "directory", "write-only", "eventfd", "/dev/zero"])
def test_a_descriptor_that_is_no_memory_is_a_fault(kind: str) -> None:
    """A descriptor that cannot be read as memory is refused: a read from it could wait for ever."""
    with contextlib.ExitStack() as stack:
        if kind == "pipe":
            read, write = os.pipe()
            stack.callback(os.close, write)
            descriptor = read
        elif kind == "socket":
            descriptor = socket.socket(socket.AF_UNIX).detach()
        elif kind == "write-only":
            original = memory(100)
            descriptor = os.open(f"/proc/self/fd/{original}", os.O_WRONLY)
            os.close(original)
        elif kind == "eventfd":
            descriptor = os.eventfd(0)
        else:
            descriptor = os.open("/" if kind == "directory" else kind, os.O_RDONLY)
        with hostile() as (channel, peer):
            os.set_inheritable(descriptor, False)
            announce(peer, len(GOOD), 50, os.dup(descriptor), GOOD)
            with pytest.raises(ProtocolFault):
                channel.receive(patience(5))
        os.close(descriptor)


def test_a_descriptor_where_none_was_announced_is_a_fault() -> None:
    """A descriptor with a frame that announces none, and none with one that does, are faults, and leave none open."""
    for flags in (0, IN_DESCRIPTOR):
        with hostile() as (channel, peer):
            rights = [] if flags else [memory(100)]
            ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", rights))] if rights else []
            peer.sendmsg([HEADER.pack(MAGIC, 1, len(GOOD), flags) + GOOD], ancillary)
            for descriptor in rights:
                os.close(descriptor)
            with pytest.raises(ProtocolFault):
                channel.receive(patience(5))


def test_stray_descriptors_are_closed() -> None:
    """However many descriptors come, with a header or behind it, at most one is open, and none after closing."""
    with hostile() as (channel, peer):
        before = descriptors()
        many = [memory(100) for _ in range(20)]
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", many))]
        text = json.dumps({"a": "b" * 100}).encode()
        peer.sendmsg([HEADER.pack(MAGIC, 1, len(text), 0)])
        for place in range(0, len(text), 10):
            peer.sendmsg([text[place : place + 10]], rights)
        for descriptor in many:
            os.close(descriptor)
        with contextlib.suppress(ProtocolFault):
            channel.receive(patience(5))
        assert descriptors() <= before + 1
        with pytest.raises(ProtocolFault):
            peer.sendmsg([HEADER.pack(MAGIC, 2, len(GOOD), 0) + GOOD])
            channel.receive(patience(5))


def test_memory_that_changes_after_it_was_sent_does_not_matter() -> None:
    """What arrived is a copy: a peer that shortens or overwrites its memory later changes nothing."""
    with hostile() as (channel, peer):
        descriptor = memory(0)
        os.write(descriptor, b"a" * 1000)
        announce(peer, len(GOOD), 1000, os.dup(descriptor), GOOD)
        frame = channel.receive(patience(5))
        os.pwrite(descriptor, b"b" * 1000, 0)
        os.truncate(descriptor, 0)
        os.close(descriptor)
        assert bytes(frame.data) == b"a" * 1000


def test_the_header_is_what_this_test_thinks_it_is() -> None:
    """The header is 20 bytes, little-endian: magic, number, bytes of the tree, bytes of data."""
    assert HEADER.pack(MAGIC, 1, 2, 3) == struct.pack("<4sIIQ", b"TGR1", 1, 2, 3)
    assert HEADER.size == 20


def test_memory_is_sealed() -> None:
    """Whoever is handed memory can neither grow nor shrink it, nor write where it is to be read only."""
    read = make_shared([b"abc"])
    assert read is not None
    both = make_to_map("inputs", 100)
    for descriptor in (read, both):
        for size in (0, 1 << 20):
            with pytest.raises(PermissionError):
                os.ftruncate(descriptor, size)
        with pytest.raises(PermissionError):
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
    with pytest.raises(PermissionError):
        os.pwrite(read, b"x", 0)
    with pytest.raises(PermissionError):
        os.pwrite(both, b"x", 100)
    assert os.pwrite(both, b"x", 99) == 1
    for descriptor in (read, both):
        os.close(descriptor)
