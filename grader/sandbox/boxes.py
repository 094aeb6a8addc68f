"""Making boxes, one ahead of need: the part of the launcher that goes on while workers come and go."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
from typing import NoReturn

from grader.sandbox import box, kernel
from grader.sandbox.room import AT_ONCE, patiently

_FAILED = 77


class Boxes:
    """Makes boxes, one ahead of need."""

    def __init__(self, proc: int) -> None:
        self._proc = proc
        # Names our own namespace for `setns`, with no proc file system in this root to name it by.
        self._here = os.pidfd_open(os.getpid())
        self._coming: tuple[int, int] | None = None
        self._ready: list[int] = []

    def try_out(self) -> None:
        """Make the first ones: as many as may be needed at once.

        Raises:
            OSError: the kernel refuses a step, or that many.
        """
        while len(self._ready) < AT_ONCE:
            try:
                self._ready.append(patiently(self._finish))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                some = f"there is room for {len(self._ready)} workers at once: {error.strerror}"
                raise OSError(error.errno, some) from None

    def hand_over(self, server: socket.socket) -> None:
        """Give the server a box, as a descriptor of its process, and start to make the next; or say why there is none.

        Not waited for here: it is the server that hears of workers whose boxes can be ended.
        """
        try:
            descriptor = self._ready.pop() if self._ready else self._finish()
        except OSError as error:
            server.send(str(error).encode())
            return
        socket.send_fds(server, [b"box"], [descriptor])
        os.close(descriptor)
        # After the handing over, so that it is made while the server forks. One that cannot be had is not needed yet.
        if not self._ready and self._coming is None:
            with contextlib.suppress(OSError):
                self._start()

    def _start(self) -> None:
        read, write = os.pipe()
        try:
            kernel.unshare(kernel.CLONE_NEWPID)  # for the next child, not for this process
            try:
                pid = os.fork()
                if pid == 0:
                    self._be_a_box(write)
            finally:
                # Back to our own: whatever is forked later would otherwise be born into this box.
                kernel.setns(self._here, kernel.CLONE_NEWPID)
            self._coming = os.pidfd_open(pid), read
        except OSError:
            os.close(read)
            raise
        finally:
            # Ours closed, so that reading ends when the box has said its word, or died without one.
            os.close(write)

    def _be_a_box(self, told: int) -> NoReturn:
        try:
            signal.set_wakeup_fd(-1)
            # What the launcher holds, the sockets to the server among them, is none of the box's business.
            kernel.close_all_but(told, self._proc)
            box.enter()
            box.furnish(self._proc, 0)
            # Not before it has its final user: a change of user makes the kernel forget this.
            kernel.die_with_parent()
            os.write(told, b"k")
            # The pipe, too: the other end reads until it is closed.
            kernel.close_all_but()
            box.hold()
        except OSError as error:
            os.write(told, f"{error.errno} {error.strerror}".encode())
        finally:
            os._exit(_FAILED)

    def _finish(self) -> int:
        """The box that is coming; a new one, if that failed: there may be room by now."""
        if self._coming is not None:
            with contextlib.suppress(OSError):
                return self._take()
        self._start()
        return self._take()

    def _take(self) -> int:
        assert self._coming is not None
        descriptor, read = self._coming
        self._coming = None
        with os.fdopen(read, "rb") as pipe:
            said = pipe.read()
        if said == b"k":
            return descriptor
        os.close(descriptor)
        number, _, text = said.decode("utf-8", "replace").partition(" ")
        raise OSError(int(number) if number.isdecimal() else errno.ECHILD, text or "a box ended at once")
