"""Memory that travels as a descriptor."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
from array import array

import pytest
from wire.ends import announce, descriptors, hostile, little_memory_and_time, memory, opened, patience

from grader.wire.frames import HEADER, MAGIC, MAPPED, ProtocolError
from grader.wire.transport import create_shared_memory

GOOD = json.dumps({"a": 1}).encode()


def test_mapped_memory_is_shared() -> None:
    """What the sender writes afterwards is seen; nothing is kept as it arrived."""
    with opened("memory") as (ours, theirs):
        descriptor = memory(100)
        ours.send(7, {"a": 1}, mapped=(descriptor, 100))
        frame = theirs.receive(patience(5))
        assert (frame.number, frame.tree, len(frame.data), len(frame.original)) == (7, {"a": 1}, 100, 0)
        os.pwrite(descriptor, b"later", 50)
        assert bytes(frame.data[48:56]) == b"\0\0later\0"
        frame.data.release()
        os.close(descriptor)


def test_a_check_maps_nothing() -> None:
    """An end that does not trust the other takes no descriptor: the other could shorten the memory under a reader."""
    with opened("memory") as (ours, theirs):
        descriptor = memory(100)
        theirs.send(7, {}, mapped=(descriptor, 100))
        os.close(descriptor)
        with pytest.raises(ProtocolError, match="not a frame"):
            ours.receive(patience(5))


@pytest.mark.parametrize("kind", ["memory", "short memory", "pipe", "socket", "directory", "eventfd", "/dev/zero"])
def test_a_descriptor_of_a_workers_is_a_fault(kind: str) -> None:
    """Whatever a worker sends along, and whether it announces it or not, it is refused, and none is left open."""
    with contextlib.ExitStack() as stack:
        if "memory" in kind:
            descriptor = memory(10 if kind == "short memory" else 100)
        elif kind == "pipe":
            descriptor, write = os.pipe()
            stack.callback(os.close, write)
        elif kind == "socket":
            descriptor = socket.socket(socket.AF_UNIX).detach()
        elif kind == "eventfd":
            descriptor = os.eventfd(0)
        else:
            descriptor = os.open("/" if kind == "directory" else kind, os.O_RDONLY)
        for size in (0, 50, 1 << 30):
            with hostile() as (channel, peer), little_memory_and_time():
                announce(peer, len(GOOD), size, os.dup(descriptor), GOOD)
                with pytest.raises(ProtocolError):
                    channel.receive(patience(5))
        with hostile() as (channel, peer):
            ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", [descriptor]))]
            peer.sendmsg([HEADER.pack(MAGIC, 1, len(GOOD), 0) + GOOD], ancillary)
            with pytest.raises(ProtocolError):
                channel.receive(patience(5))
        os.close(descriptor)


def test_a_descriptor_that_is_announced_and_does_not_come_is_a_fault() -> None:
    """The memory of such a frame would be nowhere."""
    with hostile() as (channel, peer):
        peer.sendmsg([HEADER.pack(MAGIC, 1, len(GOOD), MAPPED) + GOOD])
        with pytest.raises(ProtocolError):
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
        with contextlib.suppress(ProtocolError):
            channel.receive(patience(5))
        assert descriptors() <= before + 1
        with pytest.raises(ProtocolError):
            peer.sendmsg([HEADER.pack(MAGIC, 2, len(GOOD), 0) + GOOD])
            channel.receive(patience(5))


def test_memory_is_sealed() -> None:
    """Whoever is given memory can neither grow nor shrink it, nor add seals."""
    descriptor = create_shared_memory("inputs", 100)
    for size in (0, 1 << 20):
        with pytest.raises(PermissionError):
            os.ftruncate(descriptor, size)
    with pytest.raises(PermissionError):
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
    with pytest.raises(PermissionError):
        os.pwrite(descriptor, b"x", 100)
    assert os.pwrite(descriptor, b"x", 99) == 1
    os.close(descriptor)
