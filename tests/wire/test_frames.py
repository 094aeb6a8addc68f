"""Frames over sockets and pipes: sizes, deadlines, and whatever a hostile or dying peer may send."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import socket
import struct
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from grader.wire.frames import (
    HEADER,
    IN_DESCRIPTOR,
    INLINE_BYTES,
    MAGIC,
    Caps,
    Channel,
    ChannelClosed,
    Patience,
    ProtocolFault,
    Unsupported,
)
from grader.wire.transport import PatientPipes, PipeTransport, SocketTransport

Ends = tuple[Channel, Channel]


class OutOfPatience(BaseException):
    """Raised by a patience that has none left."""


def patience(seconds: float) -> Patience:
    """A deadline."""
    end = time.monotonic() + seconds

    def left() -> float:
        if time.monotonic() > end:
            raise OutOfPatience
        return end - time.monotonic()

    return left


def sockets(caps: Caps | None = None) -> Ends:
    ours, theirs = socket.socketpair()
    return Channel(SocketTransport(ours), caps), Channel(SocketTransport(theirs), caps)


def sockets_without_memory(caps: Caps | None = None) -> Ends:
    ours, theirs = socket.socketpair()
    transports = SocketTransport(ours), SocketTransport(theirs)
    for transport in transports:
        transport.carries_descriptors = False
    return Channel(transports[0], caps), Channel(transports[1], caps)


def pipes(caps: Caps | None = None) -> Ends:
    (read_ours, write_theirs), (read_theirs, write_ours) = os.pipe(), os.pipe()
    return (
        Channel(PatientPipes(read_ours, write_ours), caps),
        Channel(PipeTransport(read_theirs, write_theirs), caps),
    )


KINDS: dict[str, Callable[..., Ends]] = {"memory": sockets, "socket": sockets_without_memory, "pipes": pipes}


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@contextlib.contextmanager
def opened(kind: str, caps: Caps | None = None) -> Iterator[Ends]:
    """Both ends of a channel; afterwards everything is closed and no descriptor is left."""
    before = descriptors()
    ours, theirs = KINDS[kind](caps)
    try:
        yield ours, theirs
    finally:
        theirs.close()
        ours.close()
    assert descriptors() == before


@contextlib.contextmanager
def hostile() -> Iterator[tuple[Channel, socket.socket]]:
    """A channel, and the bare socket of a peer that says what it likes."""
    before = descriptors()
    ours, theirs = socket.socketpair()
    channel = Channel(SocketTransport(ours))
    try:
        with theirs:
            yield channel, theirs
    finally:
        channel.close()
    assert descriptors() == before


def in_background(function: Callable[[], Any]) -> threading.Thread:
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    return thread


SIZES = [0, 1, 1000, INLINE_BYTES, INLINE_BYTES + 1, 5_000_000]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_frames_arrive_as_they_were_sent(kind: str, size: int) -> None:
    """A tree and data of any size, in any number of parts, arrive unchanged, in both directions."""
    tree = {"text": "é\ud800" * 10, "rows": [[1, None, 2.5]]}
    data = os.urandom(size)
    parts = [data[: size // 3], memoryview(data)[size // 3 :], b""]
    with opened(kind) as (ours, theirs):
        for one, other in ((ours, theirs), (theirs, ours)):
            sender = in_background(lambda one=one: one.send(7, tree, parts, patience(20)))
            frame = other.receive(patience(20))
            sender.join()
            assert (frame.number, frame.tree, bytes(frame.data)) == (7, tree, data)
            assert not frame.data.readonly


@pytest.mark.parametrize("kind", KINDS)
def test_frames_keep_their_order(kind: str) -> None:
    """Many frames, small and large ones in turn, arrive in order and leave no descriptor behind."""
    with opened(kind) as (ours, theirs):

        def send() -> None:
            for number in range(30):
                ours.send(number, {"number": number}, [bytes([number]) * (number % 3 * 200_000)])

        sender = in_background(send)
        for number in range(30):
            frame = theirs.receive()
            assert (frame.number, len(frame.data)) == (number, number % 3 * 200_000)
            assert bytes(frame.data[:1]) in (b"", bytes([number]))
        sender.join()


def test_many_parts_arrive() -> None:
    """More parts than one system call takes are sent in several."""
    with opened("socket") as (ours, theirs):
        ours.send(1, {}, [b"%d," % number for number in range(500)])
        assert bytes(theirs.receive().data) == b"".join(b"%d," % number for number in range(500))


def test_memory_that_cannot_be_made_travels_in_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a worker's file limit forbids shared memory of the size, the bytes go through the socket."""

    def no_room(descriptor: int, data: bytes) -> int:
        raise OSError(27, "File too large")

    data = os.urandom(INLINE_BYTES + 1)
    with opened("memory") as (ours, theirs):
        frames: list[Any] = []
        receiver = in_background(lambda: frames.append(theirs.receive(patience(20))))
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", no_room)
            ours.send(1, {}, [data], patience(20))
        receiver.join()
        assert bytes(frames[0].data) == data


# ------------------------------------------------------------------------------------------------------- deadlines


@pytest.mark.parametrize("kind", KINDS)
def test_a_deadline_ends_a_wait_for_a_frame(kind: str) -> None:
    """A peer that says nothing, or stops in the midst of a frame, is waited for only as long as patience lasts."""
    with opened(kind) as (ours, theirs):
        for part in (b"", HEADER.pack(MAGIC, 1, 100, 0) + b"{"):
            theirs._transport.write([part], None, None)
            start = time.monotonic()
            with pytest.raises(OutOfPatience):
                ours.receive(patience(0.05))
            assert time.monotonic() - start < 2


@pytest.mark.parametrize("kind", ["socket"])
def test_a_deadline_ends_a_wait_for_a_reader(kind: str) -> None:
    """A peer that does not read is waited for only as long as patience lasts."""
    with opened(kind) as (ours, _), pytest.raises(OutOfPatience):
        ours.send(1, {}, [bytes(5_000_000)], patience(0.05))


def test_pipes_do_not_wait_for_a_reader() -> None:
    """Over pipes the message is queued; the deadline of the reply ends the wait, and closing does not hang."""
    with opened("pipes") as (ours, _):
        start = time.monotonic()
        ours.send(1, {}, [bytes(5_000_000)], patience(0.05))
        with pytest.raises(OutOfPatience):
            ours.receive(patience(0.05))
        assert time.monotonic() - start < 2


def test_patience_is_asked_again() -> None:
    """A patience that is prolonged during the wait is: CPU time may decide, not the clock on the wall."""
    asked = []

    def prolonged() -> float:
        asked.append(1)
        if len(asked) == 3:
            theirs.send(5, {})
        return 0.02

    with opened("memory") as (ours, theirs):
        assert ours.receive(prolonged).number == 5
    assert len(asked) >= 3


# ------------------------------------------------------------------------------------------------------------ caps


@contextlib.contextmanager
def little_memory_and_time() -> Iterator[None]:
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert time.monotonic() - start < 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


@pytest.mark.parametrize(
    ("tree", "data"),
    [
        (10, 2**62),
        (10, 2**63 - 1),
        (10, (1 << 30) + 1),
        (2**32 - 1, 0),
        ((16 << 20) + 1, 0),
        (2**32 - 1, 2**62),
    ],
)
@pytest.mark.parametrize("shared", [False, True])
def test_caps_are_checked_before_anything_is_allocated(tree: int, data: int, shared: bool) -> None:
    """A header that announces more than the caps is refused at once, whatever is sent along."""
    with hostile() as (channel, peer), little_memory_and_time():
        announce(peer, tree, data, os.memfd_create("x") if shared else None)
        with pytest.raises(ProtocolFault):
            channel.receive(patience(5))


def announce(peer: socket.socket, tree: int, data: int, descriptor: int | None, then: bytes = b"") -> None:
    flags = IN_DESCRIPTOR if descriptor is not None else 0
    header = HEADER.pack(MAGIC, 1, tree, data | flags)
    ancillary = []
    if descriptor is not None:
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", [descriptor]))]
    peer.sendmsg([header + then], ancillary)
    if descriptor is not None:
        os.close(descriptor)


def test_what_we_send_is_held_to_the_same_caps() -> None:
    """A message of ours that the other end would refuse is Unsupported, and the channel is as good as before."""
    caps = Caps(tree_bytes=1000, tree_nodes=50, data_bytes=1000)
    with opened("memory", caps) as (ours, theirs):
        for tree, data in (({"x": "y" * 1000}, b""), ({"x": [0] * 60}, b""), ({}, bytes(1001))):
            with pytest.raises(Unsupported):
                ours.send(1, tree, [data])
        ours.send(2, {"x": [0] * 40}, [bytes(1000)])
        assert theirs.receive().number == 2


# --------------------------------------------------------------------------------------------- what is not a frame

GOOD = json.dumps({"a": 1}).encode()

TREES = {
    "not JSON": b"{",
    "an array": b"[1, 2]",
    "a number": b"12345",
    "nothing": b"",
    "deep": b"[" * 500_000,
    "deep and closed": b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "many parts": b'{"a":[' + b"0," * 1_500_000 + b"0]}",
    "not UTF-8": b'{"\xff\xfe": 1}',
    "a huge number": b'{"a":' + b"9" * 5000 + b"}",
    "another encoding": '{"a": 1}'.encode("utf-32"),
}


@pytest.mark.parametrize("name", TREES)
def test_a_tree_that_is_none_is_a_fault(name: str) -> None:
    """Text that is not a JSON object, or too deep, or of too many parts, is a fault."""
    text = TREES[name]
    with hostile() as (channel, peer):
        peer.settimeout(10)
        sender = in_background(lambda: peer.sendall(HEADER.pack(MAGIC, 1, len(text), 0) + text))
        try:
            tree = channel.receive(patience(10)).tree
        except ProtocolFault:
            tree = None
        sender.join()
        assert tree is None or name == "another encoding"


def test_wrong_magic_is_a_fault() -> None:
    """Bytes that do not begin as a frame does are a fault: a print that went astray, say."""
    with hostile() as (channel, peer):
        peer.sendall(b"Hello, this is not a frame at all")
        with pytest.raises(ProtocolFault):
            channel.receive(patience(5))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", [1, 50, 5000, 5019])
def test_a_truncated_frame_is_a_closed_channel(kind: str, missing: int) -> None:
    """A peer that dies in the midst of a frame, at whatever byte, has closed the channel."""
    tree = json.dumps({"x": "y" * 1000}).encode()
    whole = HEADER.pack(MAGIC, 1, len(tree), 4000) + tree + bytes(4000)
    with opened(kind) as (ours, theirs):
        theirs._transport.write([whole[: max(0, len(whole) - missing)]], None, None)
        theirs.close_writing()
        with pytest.raises(ChannelClosed):
            ours.receive(patience(5))
        with pytest.raises(ChannelClosed):
            ours.receive(patience(5))


@pytest.mark.parametrize("kind", ["memory", "socket"])
def test_sending_to_a_peer_that_is_gone_says_so(kind: str) -> None:
    """Sending to a closed socket is ChannelClosed, never a signal or another error."""
    before = descriptors()
    ours, theirs = KINDS[kind]()
    theirs.close()
    with pytest.raises(ChannelClosed):
        ours.send(1, {}, [bytes(1_000_000)])
    with pytest.raises(ChannelClosed):
        ours.receive()
    ours.close()
    assert descriptors() == before


def test_pipes_to_a_peer_that_is_gone_end() -> None:
    """Over pipes a peer that is gone is met at the reply, and closing does not hang or leave a thread."""
    before, threads = descriptors(), threading.active_count()
    ours, theirs = pipes()
    theirs.close()
    ours.send(1, {}, [bytes(1_000_000)])
    for _ in range(2):
        with pytest.raises(ChannelClosed):
            ours.receive(patience(5))
    ours.close()
    assert descriptors() == before
    assert threading.active_count() <= threads


def test_the_worker_end_of_pipes_says_that_it_is_closed() -> None:
    """The plain end of pipes raises ChannelClosed for a peer that is gone, and for its own closed writing end."""
    read, write = os.pipe()
    other_read, other_write = os.pipe()
    end = PipeTransport(read, other_write)
    os.close(write)
    os.close(other_read)
    with pytest.raises(ChannelClosed):
        end.write([b"x"], None, None)
    with pytest.raises(ChannelClosed):
        end.read_into(memoryview(bytearray(1)), None)
    end.close_writing()
    with pytest.raises(ChannelClosed):
        end.write([b"x"], None, None)
    end.close()


# ----------------------------------------------------------------------------------------------------- descriptors


def memory(size: int) -> int:
    descriptor = os.memfd_create("x")
    os.truncate(descriptor, size)
    return descriptor


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
