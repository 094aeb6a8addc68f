"""Whatever a hostile or dying peer may send is a fault or a closed channel."""

from __future__ import annotations

import contextlib
import json
import os
import threading

import pytest
from wire.ends import KINDS, announce, descriptors, hostile, in_background, little_memory_and_time, opened, patience

from grader.wire.frames import HEADER, MAGIC, ProtocolError
from grader.wire.transport import ChannelClosed, PipeTransport


@pytest.mark.parametrize(
    ("tree", "data"),
    [(10, 2**62), (10, 2**63 - 1), (10, (1 << 30) + 1), (2**32 - 1, 0), ((16 << 20) + 1, 0), (2**32 - 1, 2**62)],
)
@pytest.mark.parametrize("shared", [False, True])
def test_caps_are_checked_before_anything_is_allocated(tree: int, data: int, shared: bool) -> None:
    """A header that announces more than the caps is refused at once, whatever is sent along."""
    with hostile() as (channel, peer), little_memory_and_time():
        announce(peer, tree, data, os.memfd_create("x") if shared else None)
        with pytest.raises(ProtocolError):
            channel.receive(patience(5))


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
def test_a_value_that_is_not_a_tree_is_a_fault(name: str) -> None:
    """Text that is not a JSON object, or too deep, or of too many parts, is a fault."""
    text = TREES[name]
    with hostile() as (channel, peer):
        peer.settimeout(10)
        sender = in_background(lambda: peer.sendall(HEADER.pack(MAGIC, 1, len(text), 0) + text))
        try:
            tree = channel.receive(patience(10)).tree
        except ProtocolError:
            tree = None
        sender.join()
        assert tree is None or name == "another encoding"


def test_wrong_magic_is_a_fault() -> None:
    """Bytes that do not begin as a frame does are a fault: a print that went astray, say."""
    for sent in (b"Hello, this is not a frame at all", b"x" + HEADER.pack(MAGIC, 1, 2, 0)[1:] + b"{}"):
        with hostile() as (channel, peer):
            peer.sendall(sent)
            with pytest.raises(ProtocolError):
                channel.receive(patience(5))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", [1, 50, 5000, 5019])
def test_a_truncated_frame_is_a_closed_channel(kind: str, missing: int) -> None:
    """A peer that dies in the midst of a frame, at whatever byte, has closed the channel."""
    tree = json.dumps({"x": "y" * 1000}).encode()
    whole = HEADER.pack(MAGIC, 1, len(tree), 4000) + tree + bytes(4000)
    with opened(kind) as (ours, theirs):
        theirs.transport.write([whole[: max(0, len(whole) - missing)]], None, None)
        theirs.transport.close_writing()
        for _ in range(2):
            with pytest.raises(ChannelClosed):
                ours.receive(patience(5))


@pytest.mark.parametrize("kind", KINDS)
def test_a_peer_that_is_gone_is_met(kind: str) -> None:
    """By a socket at once, as ChannelClosed and no signal, by pipes at the reply; closing leaves no thread."""
    before, threads = descriptors(), threading.active_count()
    ours, theirs = KINDS[kind]()
    theirs.close()
    with contextlib.nullcontext() if kind == "pipes" else pytest.raises(ChannelClosed):
        ours.send(1, {}, [bytes(1_000_000)])
    for _ in range(2):
        with pytest.raises(ChannelClosed):
            ours.receive(patience(5))
    ours.close()
    assert descriptors() == before
    assert threading.active_count() <= threads


def test_the_worker_end_of_pipes_says_that_it_is_closed() -> None:
    """The plain end of pipes raises ChannelClosed for a peer that is gone, and for its own closed writing end."""
    (read, write), (other_read, other_write) = os.pipe(), os.pipe()
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
