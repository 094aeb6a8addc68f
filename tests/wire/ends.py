"""Both ends of a channel, or one end and a peer that says what it likes."""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from typing import Any

from grader.wire.frames import HEADER, MAGIC, MAPPED, Caps, Channel
from grader.wire.transport import Patience, PatientPipes, PipeTransport, SocketTransport, patience_until

Ends = tuple[Channel, Channel]


def patience(seconds: float) -> Patience:
    return patience_until(time.monotonic() + seconds)


def sockets(caps: Caps | None = None) -> Ends:
    ours, theirs = socket.socketpair()
    return Channel(SocketTransport(ours), caps), Channel(SocketTransport(theirs), caps, trusts=True)


def sockets_without_memory(caps: Caps | None = None) -> Ends:
    ends = sockets(caps)
    for channel in ends:
        channel.transport.carries_descriptors = False
    return ends


def pipes(caps: Caps | None = None) -> Ends:
    (read_ours, write_others), (read_others, write_ours) = os.pipe(), os.pipe()
    ours, theirs = PatientPipes(read_ours, write_ours), PipeTransport(read_others, write_others)
    return Channel(ours, caps), Channel(theirs, caps, trusts=True)


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


@contextlib.contextmanager
def little_memory_and_time() -> Iterator[None]:
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert time.monotonic() - start < 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


def announce(peer: socket.socket, tree: int, data: int, descriptor: int | None, then: bytes = b"") -> None:
    flags = MAPPED if descriptor is not None else 0
    header = HEADER.pack(MAGIC, 1, tree, data | flags)
    ancillary = []
    if descriptor is not None:
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", [descriptor]))]
    peer.sendmsg([header + then], ancillary)
    if descriptor is not None:
        os.close(descriptor)


def memory(size: int) -> int:
    descriptor = os.memfd_create("x")
    os.truncate(descriptor, size)
    return descriptor
