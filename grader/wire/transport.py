"""How bytes travel: a Unix socket that can carry descriptors, or a pair of pipes. Standard library only."""

from __future__ import annotations

import array
import contextlib
import mmap
import os
import queue
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence

_AT_ONCE = 1 << 16
"""Bytes that are read at once: most messages have fewer, so that one is read with one system call."""
_PARTS_AT_ONCE = 64
_ROOM_FOR_DESCRIPTORS = socket.CMSG_SPACE(4 * 4) if hasattr(socket, "CMSG_SPACE") else 0
"""For a few, though one at most is expected: the system drops those that do not fit."""
_TURN_S = 0.5

Patience = Callable[[], float]
"""Seconds that a wait may last before the patience is called again; raises when no time is left."""


class ChannelClosed(Exception):
    """The other process is gone."""


def patience_until(moment: float) -> Patience:
    """Return a function that ends a wait at a deadline.

    Each call of it returns the seconds to wait next, at most 0.5. From the deadline on, it raises `TimeoutError`.

    Args:
        moment: the deadline, by the monotonic clock.
    """

    def patience() -> float:
        if (left := moment - time.monotonic()) <= 0:
            raise TimeoutError
        return min(left, _TURN_S)

    return patience


class _Stream:
    """A buffered stream of bytes, of which a caller reads exactly as many as it needs."""

    def __init__(self) -> None:
        self._arrived = memoryview(bytearray(_AT_ONCE))
        self._rest = self._arrived[:0]

    def read_into(self, view: memoryview, patience: Patience | None) -> None:
        """Wait for bytes and read them into a view until it is full.

        Raises:
            ChannelClosed: the other side is gone.
        """
        while view:
            if not self._rest:
                # More than is wanted now is read with it, but not of large memory, which would be copied twice.
                if len(view) >= _AT_ONCE:
                    view = view[self._receive(view, patience) :]
                    continue
                self._rest = self._arrived[: self._receive(self._arrived, patience)]
            count = min(len(view), len(self._rest))
            view[:count] = self._rest[:count]
            view, self._rest = view[count:], self._rest[count:]

    def _receive(self, view: memoryview, patience: Patience | None) -> int:
        """Wait for bytes, read some into a view, and return their number.

        The view has at least `_AT_ONCE` bytes.
        """
        raise NotImplementedError


class SocketTransport(_Stream):
    """A connected Unix stream socket. Every wait is a poll, so that a deadline can end it.

    Attributes:
        carries_descriptors: True if shared memory can travel.
    """

    carries_descriptors = hasattr(os, "memfd_create")

    def __init__(self, sock: socket.socket) -> None:
        super().__init__()
        sock.setblocking(False)
        self._sock = sock
        self._descriptors: list[int] = []
        self._waits = {event: select.poll() for event in (select.POLLIN, select.POLLOUT)}
        for event, poll in self._waits.items():
            poll.register(sock, event)

    def write(self, parts: Sequence[bytes | memoryview], descriptor: int | None, patience: Patience | None) -> None:
        """Send all parts of a message through the socket, and a descriptor with the first byte.

        Args:
            parts: the parts of the message, in order.
            descriptor: the descriptor that goes with it, if there is one.
            patience: a callable that returns the seconds to wait for the other side; None for no deadline.
        """
        # Sent with the first bytes and not again: the other side looks for it once it has the header.
        ancillary = []
        if descriptor is not None:
            ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))]
        rest = [memoryview(part) for part in parts if len(part)]
        while rest:
            try:
                sent = self._sock.sendmsg(rest[:_PARTS_AT_ONCE], ancillary)
            except BlockingIOError:
                self._wait(select.POLLOUT, patience)
                continue
            except OSError as error:
                raise ChannelClosed(str(error)) from None
            ancillary = []
            while sent:
                if sent >= len(rest[0]):
                    sent -= len(rest.pop(0))
                else:
                    rest[0] = rest[0][sent:]
                    sent = 0

    def _receive(self, view: memoryview, patience: Patience | None) -> int:
        """Wait for bytes, read some into a view, and return their number.

        Descriptors that arrive with them are kept for `take_descriptor`.
        """
        # What is expected is hardly ever there yet, so it is waited for first.
        self._wait(select.POLLIN, patience)
        try:
            count, ancillary, _, _ = self._sock.recvmsg_into([view], _ROOM_FOR_DESCRIPTORS)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise ChannelClosed(str(error)) from None
        if ancillary:
            self._keep_descriptors(ancillary)
        if count == 0:
            raise ChannelClosed("the other side closed the channel")
        return count

    def _keep_descriptors(self, ancillary: Sequence[tuple[int, int, bytes]]) -> None:
        # All that came are open here now, expected or not, and a worker may send any number.
        for level, kind, payload in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                self._descriptors.extend(memoryview(payload[: len(payload) // 4 * 4]).cast("i"))
        while len(self._descriptors) > 1:
            os.close(self._descriptors.pop(0))

    def take_descriptor(self) -> int | None:
        """Return the descriptor that arrived with the last bytes, or None.

        It is returned once, and the caller owns it.
        """
        return self._descriptors.pop() if self._descriptors else None

    def _wait(self, event: int, patience: Patience | None) -> None:
        # Asked again when it has run out: a deadline may be of the worker's CPU time, which lags behind the clock.
        poll = self._waits[event].poll
        while not poll(None if patience is None else max(0.0, patience()) * 1000):
            pass

    def close_writing(self) -> None:
        """Shut the socket down for writing, so that the other side reads the end of the stream."""
        with contextlib.suppress(OSError):  # it is gone
            self._sock.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Close the socket, and all descriptors that nobody took.

        These are descriptors that arrived, and that `take_descriptor` did not return.
        """
        while self._descriptors:
            os.close(self._descriptors.pop())
        self._sock.close()


class PipeTransport(_Stream):
    """Two descriptors, read and written without a deadline: the end of a channel that may wait for ever."""

    carries_descriptors = False

    def __init__(self, read_fd: int, write_fd: int) -> None:
        super().__init__()
        self._read_fd = read_fd
        self._write_fd: int | None = write_fd

    def write(self, parts: Sequence[bytes | memoryview], descriptor: int | None, patience: Patience | None) -> None:
        """Write all parts of a message to the pipe.

        Args:
            parts: the parts of the message, in order.
            descriptor: a descriptor, which is not sent: a pipe cannot carry one.
            patience: a deadline, which is not used: writing to a pipe has none.
        """
        del descriptor, patience
        if self._write_fd is None:
            raise ChannelClosed("our side is closed")
        try:
            # Small parts together, with one system call.
            small = sum(map(len, parts)) <= _AT_ONCE
            for part in [b"".join(parts)] if small else parts:
                rest = memoryview(part).cast("B")
                while rest:
                    rest = rest[os.write(self._write_fd, rest[: 4 * _AT_ONCE]) :]
        except OSError as error:
            raise ChannelClosed(str(error)) from None

    def _receive(self, view: memoryview, patience: Patience | None) -> int:
        chunk = self._next_chunk(patience)
        view[: len(chunk)] = chunk
        return len(chunk)

    def _next_chunk(self, patience: Patience | None) -> bytes:
        """Wait for bytes, and return a chunk of them as soon as it arrives."""
        del patience
        try:
            chunk = os.read(self._read_fd, _AT_ONCE)
        except OSError as error:
            raise ChannelClosed(str(error)) from None
        if not chunk:
            raise ChannelClosed("the other side closed the channel")
        return chunk

    def take_descriptor(self) -> None:
        """Return None: no pipe carries descriptors."""

    def close_writing(self) -> None:
        """Close the pipe for writing, so that the other side reads the end of the stream."""
        if self._write_fd is not None:
            os.close(self._write_fd)
            self._write_fd = None

    def close(self) -> None:
        """Close both descriptors."""
        self.close_writing()
        os.close(self._read_fd)


class PatientPipes(PipeTransport):
    """Two descriptors with deadlines, by a thread each: pipes cannot be polled on every system."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        super().__init__(read_fd, write_fd)
        self._incoming: queue.Queue[bytes] = queue.Queue(maxsize=64)
        self._outgoing: queue.Queue[bytes | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read_on, name="wire-read", daemon=True)
        self._writer = threading.Thread(target=self._write_on, name="wire-write", daemon=True)
        self._reader.start()
        self._writer.start()

    def _read_on(self) -> None:
        # Into a queue that is bounded: whoever sends faster than we read must wait, as over a pipe without a thread.
        with contextlib.suppress(ChannelClosed):
            while True:
                self._incoming.put(super()._next_chunk(None))
        self._incoming.put(b"")

    def _write_on(self) -> None:
        with contextlib.suppress(ChannelClosed):  # the reader meets the end of the stream and says so
            while (part := self._outgoing.get()) is not None:
                super().write([part], None, None)

    def write(self, parts: Sequence[bytes | memoryview], descriptor: int | None, patience: Patience | None) -> None:
        """Queue all parts of a message for the thread that writes them to the pipe.

        Do not wait for this thread.

        Args:
            parts: the parts of the message, in order.
            descriptor: a descriptor, which is not sent: a pipe cannot carry one.
            patience: a deadline, which is not used: if the other process reads nothing, the wait for its reply ends.
        """
        del descriptor, patience
        for part in parts:
            self._outgoing.put(bytes(part))

    def _next_chunk(self, patience: Patience | None) -> bytes:
        while True:
            try:
                chunk = self._incoming.get(timeout=None if patience is None else max(0.0, patience()))
            except queue.Empty:
                continue
            if not chunk:  # put back, for whoever asks once more
                self._incoming.put(b"")
                raise ChannelClosed("the other side closed the channel")
            return chunk

    def close_writing(self) -> None:
        """Write the queued parts, then close the pipe for writing."""
        self._outgoing.put(None)
        self._writer.join(timeout=1)
        super().close_writing()

    def close(self) -> None:
        """Close both descriptors, once the thread that reads has ended.

        The thread ends when the other process is dead; call this only then.
        """
        while self._reader.is_alive():
            with contextlib.suppress(queue.Empty):
                self._incoming.get(timeout=0.01)  # makes room for a reader that holds one more chunk
        super().close()


Transport = SocketTransport | PipeTransport


def standard_streams() -> PipeTransport:
    """Return a transport over standard input and output of this process.

    From now on, what the process prints goes to standard error. Call it before anything prints: the other process would
    read that as a frame.
    """
    read_fd, write_fd = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    if sys.platform == "win32":
        import msvcrt

        for fd in (read_fd, write_fd):
            msvcrt.setmode(fd, os.O_BINARY)
    return PipeTransport(read_fd, write_fd)


def pipes_of(process: subprocess.Popen[bytes]) -> PatientPipes:
    """Return a transport over the standard streams of a process that was started with pipes.

    The transport owns the pipes.
    """
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin, process.stdout:
        return PatientPipes(os.dup(process.stdout.fileno()), os.dup(process.stdin.fileno()))


def create_shared_memory(name: str, size: int) -> int:
    """Create memory that another process can map, and return its descriptor.

    The caller owns the descriptor.
    """
    import fcntl  # not on every system that this module is imported on

    descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.posix_fallocate(descriptor, 0, size)
    # No holder may grow or shrink it, or add further seals.
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
    return descriptor


def map_shared_memory(descriptor: int, size: int) -> memoryview:
    """Map shared memory by its descriptor, and return it as a memoryview.

    The descriptor must come from a trusted process.
    """
    if not size:  # the system refuses to map it
        return memoryview(bytearray())
    # Its pages are there already, so that a timed call does not pay for page faults.
    return memoryview(mmap.mmap(descriptor, size, flags=mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)))
