"""Frames over sockets and pipes arrive as they were sent, in order, within deadlines and caps."""

from __future__ import annotations

import functools
import os
import time
from typing import Any

import pytest
from wire.ends import KINDS, in_background, opened, patience

from grader.wire.frames import HEADER, MAGIC, Caps, Unsupported


@pytest.mark.parametrize("size", [0, 1, 1000, 65_536, 65_537, 5_000_000])
@pytest.mark.parametrize("kind", KINDS)
def test_frames_arrive_as_they_were_sent(kind: str, size: int) -> None:
    """A tree and data of any size, in more parts than one system call takes, arrive unchanged, in both directions."""
    tree = {"text": "é\ud800" * 10, "rows": [[1, None, 2.5]]}
    data = os.urandom(size)
    parts: list[Any] = [*(data[place : place + 1] for place in range(1100)), memoryview(data)[1100:], b""]
    with opened(kind) as (ours, theirs):
        for one, other in ((ours, theirs), (theirs, ours)):
            sender = in_background(functools.partial(one.send, 7, tree, parts, patience(20)))
            frame = other.receive(patience(20))
            sender.join()
            assert (frame.number, frame.tree, bytes(frame.data)) == (7, tree, data)
            assert bytes(frame.original) == (data if other.trusts else b"")


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


@pytest.mark.parametrize("kind", KINDS)
def test_a_deadline_ends_a_wait_for_a_frame(kind: str) -> None:
    """A peer that says nothing, or stops in the midst of a frame, is waited for only as long as patience lasts."""
    with opened(kind) as (ours, theirs):
        for part in (b"", HEADER.pack(MAGIC, 1, 100, 0) + b"{"):
            theirs.transport.write([part], None, None)
            start = time.monotonic()
            with pytest.raises(TimeoutError):
                ours.receive(patience(0.05))
            assert time.monotonic() - start < 2


def test_a_deadline_ends_a_wait_for_a_reader() -> None:
    """A peer that does not read is waited for only as long as patience lasts; over pipes the reply is."""
    with opened("socket") as (ours, _), pytest.raises(TimeoutError):
        ours.send(1, {}, [bytes(5_000_000)], patience(0.05))
    with opened("pipes") as (ours, _):
        ours.send(1, {}, [bytes(5_000_000)], patience(0.05))
        with pytest.raises(TimeoutError):
            ours.receive(patience(0.05))


def test_patience_is_called_again() -> None:
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


def test_what_we_send_is_held_to_the_same_caps() -> None:
    """A message of ours that the other end would refuse is Unsupported, and the channel is as good as before."""
    caps = Caps(tree_bytes=1000, tree_nodes=50, data_bytes=1000)
    with opened("memory", caps) as (ours, theirs):
        for tree, data in (({"x": "y" * 1000}, b""), ({"x": [0] * 60}, b""), ({}, bytes(1001)), ({"x": 10**5000}, b"")):
            with pytest.raises(Unsupported):
                ours.send(1, tree, [data])
        ours.send(2, {"x": [0] * 40}, [bytes(1000)])
        assert theirs.receive().number == 2
