"""Making boxes, one ahead of need: the part of the launcher that goes on while workers come and go."""

from __future__ import annotations

import os
import signal
import socket
import time
from typing import NoReturn

from grader.confine import box, kernel

# The kernel has limits on the number of namespaces; one that was just left may still count.
_PAUSES_S = (0.01, 0.05, 0.2, 0.5, 1.0, 2.0)
_FAILED = 77


class Boxes:
    """Makes boxes, one ahead of need."""

    def __init__(self, proc: int) -> None:
        self._proc = proc
        # Names our own namespace for `setns`, with no proc file system in this root to name it by.
        self._here = os.pidfd_open(os.getpid())
        self._coming: tuple[int, int] | None = None
        self._ready: list[int] = []

    def try_one(self) -> None:
        """Make the first.

        Raises:
            OSError: the kernel refuses a step.
        """
        self._ready.append(self._finish())

    def hand_over(self, server: socket.socket) -> None:
        """Give the server a box, as a descriptor of its process, and start to make the next."""
        descriptor = self._ready.pop() if self._ready else self._finish_at_last()
        socket.send_fds(server, [b"box"], [descriptor])
        os.close(descriptor)
        # After the handing over, so that it is made while the server forks.
        self._start()

    def _finish_at_last(self) -> int:
        """The box that is coming. The kernel takes old namespaces apart later than it counts them: wait for that."""
        for pause in _PAUSES_S:
            try:
                return self._finish()
            except OSError:
                time.sleep(pause)
        return self._finish()

    def _start(self) -> None:
        read, write = os.pipe()
        kernel.unshare(kernel.CLONE_NEWPID)  # for the next child, not for this process
        pid = os.fork()
        if pid == 0:
            self._be_a_box(write)
        # Back to our own: whatever is forked later would otherwise be born into this box.
        kernel.setns(self._here, kernel.CLONE_NEWPID)
        # Ours closed, so that reading ends when the box has said its word, or died without one.
        os.close(write)
        self._coming = os.pidfd_open(pid), read

    def _be_a_box(self, told: int) -> NoReturn:
        try:
            signal.set_wakeup_fd(-1)
            # What the launcher holds, the sockets to the server among them, is none of the box's business.
            kernel.close_all_but(told, self._proc)
            box.furnish(self._proc, 0)
            # Not before it has its final user: a change of user makes the kernel forget this.
            kernel.die_with_parent()
            os.write(told, b"k")
            # The pipe, too: the other end reads until it is closed.
            kernel.close_all_but()
            box.hold()
        except OSError as error:
            os.write(told, str(error).encode())
        finally:
            os._exit(_FAILED)

    def _finish(self) -> int:
        if self._coming is None:
            self._start()
        assert self._coming is not None
        descriptor, read = self._coming
        self._coming = None
        with os.fdopen(read, "rb") as pipe:
            said = pipe.read()
        if said == b"k":
            return descriptor
        os.close(descriptor)
        raise OSError(said.decode("utf-8", "replace") or "a box ended at once")
